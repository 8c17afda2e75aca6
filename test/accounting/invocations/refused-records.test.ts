import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import type { Accounts } from '../../../src/accounting/budgets/accounts.ts';
import type { InvocationDocument } from '../../../src/accounting/invocations/invocation.ts';
import { createInvocationId } from '../../../src/accounting/invocations/invocation-id.ts';
import { createInvocationStore } from '../../../src/accounting/invocations/invocation-store.ts';
import { createJournalStore } from '../../../src/accounting/invocations/journal-store.ts';
import { createRecovery } from '../../../src/accounting/invocations/recovery.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { setUp } from '../../support/per-operation.ts';

const setup = setUp();

/** An invocation whose call has cost 5 billionths of a dollar. */
function paidEntry(): InvocationDocument {
  const created_at = new Date();
  const author = { type: 'key', id: 'a-key', name: 'A key' } as const;
  const attempt = { provider: 'mock', model: 'model-a', status: 'interrupted', started_at: created_at } as const;
  return {
    ...{ _id: createInvocationId(created_at, randomUUID()), created_at, operation: 'invoke', status: 'interrupted' },
    ...{ author, request_id: 'a-request', streamed: false, cached: false },
    attempts: [{ ...attempt, cost: 5, budgets: ['a-period'] }],
  };
}

it('keeps a journal with a record that the database refuses, and neither another journal nor a slice', async () => {
  const [sound, poisoned, other] = [paidEntry(), paidEntry(), paidEntry()];
  const store = createJournalStore(setup.database);
  const [holder, neighbour, gone] = [randomUUID(), randomUUID(), randomUUID()];
  await store.create(holder, { number: 0, entries: [sound, poisoned] });
  await store.create(neighbour, { number: 0, entries: [other] });

  const settled = new Map<string, number | undefined>();
  const removed: string[] = [];
  const accounts: Accounts = {
    holders: () => Promise.resolve(new Set([holder, gone])),
    slicesOf: () => Promise.resolve(new Map()),
    settle(journal, _slices, spent) {
      settled.set(journal, spent.get('a-period'));
      return Promise.resolve(true);
    },
    remove: (journal) => Promise.resolve(void removed.push(journal)),
  };
  const records = createInvocationStore(setup.database);
  let isRefused = true;
  const interrupted: string[] = [];
  const recover = createRecovery({
    ...{ store, accounts, monotonic: () => 0, termMs: 0, log: createLogger('silent') },
    journals: { owns: () => false },
    records: {
      attemptsOf: (ids) => records.attemptsOf(ids),
      insert(some) {
        if (isRefused && some.some(({ _id }) => _id === poisoned._id)) throw new TypeError('a mistake in the program');
        return records.insert(some);
      },
    },
    onInterrupted: (found) => interrupted.push(...found.map(({ _id }) => _id)),
  });

  await expect(recover()).rejects.toThrow(poisoned._id);
  expect([...settled]).toEqual([[neighbour, 5]]);
  expect(removed).toEqual([gone]);
  expect((await store.list()).map(({ id }) => id)).toEqual([holder]);
  expect(interrupted.toSorted()).toEqual([sound._id, other._id].toSorted());

  isRefused = false;
  await recover();
  expect(settled.get(holder)).toBe(10);
  expect(await store.list()).toEqual([]);
  expect(interrupted.toSorted()).toEqual([sound._id, other._id, poisoned._id].toSorted());
});
