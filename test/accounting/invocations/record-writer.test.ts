import { randomBytes, randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { createContentStore } from '../../../src/accounting/invocations/content-store.ts';
import type { InvocationDocument } from '../../../src/accounting/invocations/invocation.ts';
import { createInvocationId } from '../../../src/accounting/invocations/invocation-id.ts';
import { createInvocationStore } from '../../../src/accounting/invocations/invocation-store.ts';
import { createRecordWriter } from '../../../src/accounting/invocations/record-writer.ts';
import { createSecretBox } from '../../../src/base/secrets/secret-box.ts';
import { setUp } from '../../support/per-operation.ts';
import { refusing } from '../../support/refusing-database.ts';

const setup = setUp();

function record(): InvocationDocument {
  const at = new Date();
  const members = {
    author: { type: 'key', id: 'k', name: 'K' } as const,
    request_id: 'r',
    streamed: false,
    cached: false,
    attempts: [],
  };
  const _id = createInvocationId(at, randomUUID());
  return { _id, created_at: at, operation: 'invoke', status: 'succeeded', ...members };
}

it('stores the records and contents beside those that the database refuses', async () => {
  const [first, unstored, bare, last] = [record(), record(), record(), record()];
  const database = refusing(
    setup.database,
    ({ collection, method, text }) =>
      method === 'insertMany' &&
      ((text.includes(unstored._id) && collection.startsWith('invocations_')) ||
        (text.includes(bare._id) && collection.startsWith('invocation_contents_'))),
  );
  const store = createInvocationStore(database);
  const contents = createContentStore(database, createSecretBox(randomBytes(32)));
  const errors: unknown[] = [];
  const writer = createRecordWriter({ store, contents, onError: (error, id) => errors.push({ error, id }) });
  const gone: string[] = [];
  for (const one of [first, unstored, bare, last]) {
    writer.add(one, true, () => gone.push(one._id), JSON.stringify({ of: one._id }));
  }
  await writer.flush();
  await writer.close(1_000);
  const found = await Promise.all([first, unstored, bare, last].map(({ _id }) => store.find(_id)));
  expect(found.map((one) => one !== undefined)).toEqual([true, false, true, true]);
  const read = await Promise.all([first, bare, last].map(({ _id }) => contents.find(_id)));
  expect(read.map((one) => one !== undefined)).toEqual([true, false, true]);
  expect(gone).toHaveLength(4);
  expect(errors).toEqual(
    expect.arrayContaining([unstored, bare].map(({ _id }) => ({ error: expect.any(TypeError), id: _id }))),
  );
  expect(errors).toHaveLength(2);
});
