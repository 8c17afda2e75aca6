import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { createContentStore } from '../../../src/accounting/invocations/content-store.ts';
import type { InvocationDocument } from '../../../src/accounting/invocations/invocation.ts';
import { createInvocationId } from '../../../src/accounting/invocations/invocation-id.ts';
import { createInvocationStore } from '../../../src/accounting/invocations/invocation-store.ts';
import { createJournalStore } from '../../../src/accounting/invocations/journal-store.ts';
import { createRetention } from '../../../src/accounting/invocations/retention.ts';
import { createSecretBox } from '../../../src/base/secrets/secret-box.ts';
import { setUp } from '../../support/per-operation.ts';

const setup = setUp();

function at(time: string): InvocationDocument {
  const created_at = new Date(time);
  const _id = createInvocationId(created_at, randomUUID());
  const members = {
    author: { type: 'key', id: 'k', name: 'K' } as const,
    request_id: 'r',
    streamed: false,
    cached: false,
    attempts: [],
  };
  return { _id, created_at, operation: 'invoke', status: 'succeeded', ...members };
}

it('drops whole days, none that a journal names, and makes the collection of the next day with its indexes', async () => {
  const { database } = setup;
  const store = createInvocationStore(database);
  const journals = createJournalStore(database);
  const contents = createContentStore(database, createSecretBox(new Uint8Array(32)));
  const [gone, named, kept] = [at('2026-03-01T23:59:59Z'), at('2026-03-02T12:00:00Z'), at('2026-03-09T00:00:00Z')];
  await store.insert([gone, named, kept]);
  const recent = at('2026-03-10T00:00:00Z');
  await contents.insert([kept, recent].map(({ _id: id }) => ({ id, json: '{}' })));
  const journal = randomUUID();
  await journals.create(journal, { number: 0, entries: [named] });
  const clock = { now: () => new Date('2026-03-12T00:30:00Z') };
  let addedUp = new Date('2026-03-01T23:45:00Z');
  const addedUpUntil = async () => addedUp.getTime();
  const day = 24 * 3_600_000;
  const retain = createRetention({
    ...{ store, contents, journals, clock, addedUpUntil },
    ...{ retentionMs: 2 * day, contentRetentionMs: day },
  });
  await retain();
  expect(await store.days()).toContain('20260301');
  expect(await contents.days()).toEqual(['20260310']);
  expect(await contents.find(recent._id)).toBe('{}');

  addedUp = clock.now();
  await retain();
  expect(await store.days()).toEqual(['20260313', '20260309', '20260302']);
  expect(await store.find(gone._id)).toBeUndefined();
  expect(await store.find(kept._id)).toMatchObject({ _id: kept._id });
  const indexes = await database.db.collection('invocations_20260313').indexes();
  expect(indexes.map(({ name }) => name)).toContain('prompt_id_1_created_at_-1__id_1');

  await journals.remove(journal, 0);
  await retain();
  expect(await store.days()).toEqual(['20260313', '20260309']);
});
