/** What the slices of a dead process count, when commands of it arrive later than those who recover its journal. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createAccounts } from '../../../src/accounting/budgets/accounts.ts';
import { Allowance } from '../../../src/accounting/budgets/allowance.ts';
import {
  createPeriodStore,
  periodIndexes,
  type PeriodStore,
  type PeriodTerms,
} from '../../../src/accounting/budgets/period-store.ts';
import { createShares } from '../../../src/accounting/budgets/shares.ts';
import type { InvocationDocument } from '../../../src/accounting/invocations/invocation.ts';
import { createInvocationId } from '../../../src/accounting/invocations/invocation-id.ts';
import { createInvocationStore, type InvocationStore } from '../../../src/accounting/invocations/invocation-store.ts';
import { createJournalStore, type JournalStore } from '../../../src/accounting/invocations/journal-store.ts';
import { createRecovery } from '../../../src/accounting/invocations/recovery.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createIndexes, createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let periods: PeriodStore;
let journals: JournalStore;
let records: InvocationStore;
let terms: PeriodTerms;
let journal: string;
beforeAll(async () => {
  database = await createTestDatabase();
  await createIndexes(database, [periodIndexes]);
  periods = createPeriodStore(database);
  journals = createJournalStore(database);
  records = createInvocationStore(database);
});
afterAll(() => database.drop());

const ceiling = 40;
const nothing = { amount: 0, settled: 0, taken: 0, spent: 0 };

beforeEach(async () => {
  const period = { id: `${randomUUID()}|2026-11-23`, since: new Date('2026-11-23T00:00:00Z'), resetsAt: undefined };
  terms = { ...period, budget: 'all', budgetId: 'a-budget', limit: 1_000, revision: 1, isShared: false };
  journal = randomUUID();
  await periods.ensure(terms);
});

/** The process believed that its first take was lost, and took again. */
const lateTake = (): Promise<boolean> =>
  periods.change(terms.id, journal, { ...nothing, from: undefined, to: 1, amount: 100, taken: 100 });

/** A journal with one call, whose process has ended. */
async function leaveCall(): Promise<void> {
  const created_at = new Date();
  const attempt = { provider: 'mock', model: 'model-a', status: 'interrupted' as const, started_at: created_at };
  const entry: InvocationDocument = {
    ...{ _id: createInvocationId(created_at, randomUUID()), created_at, operation: 'invoke', status: 'interrupted' },
    ...{ author: { type: 'key', id: 'k', name: 'K' }, request_id: 'r', streamed: false, cached: false },
    attempts: [{ ...attempt, budgets: [terms.id], usage_source: 'ceiling', cost: ceiling }],
  };
  await journals.create(journal, { number: 0, entries: [entry] });
  await periods.change(terms.id, journal, { ...nothing, from: undefined, to: 3, amount: 100, taken: 100 });
}

function recoverer({ insert = records.insert, remove = journals.remove } = {}): () => Promise<void> {
  return createRecovery({
    store: { ...journals, remove },
    journals: { owns: () => false },
    records: { ...records, insert },
    accounts: createAccounts(periods),
    log: createLogger('silent'),
    onInterrupted: () => undefined,
    monotonic: () => performance.now(),
    termMs: 0,
  });
}

async function expectRest(): Promise<void> {
  const recover = recoverer();
  await recover();
  await recover();
  const { taken, spent, slices } = (await periods.find(terms.id)) ?? {};
  expect({ taken, spent, slices: [...(slices ?? [])] }).toEqual({ taken: ceiling, spent: ceiling, slices: [] });
  expect(await periods.holders()).toEqual(new Set());
}

describe('a first take that arrives late', () => {
  it.each([1, 2])('while another has recovered the journal, in %d runs', async (runs) => {
    await leaveCall();
    const other = recoverer();
    const slow = recoverer({
      async insert(documents) {
        for (let run = 0; run < runs; run += 1) await other();
        await lateTake();
        return await records.insert(documents);
      },
    });
    await slow();
    await expectRest();
  });

  it('after another was killed before it removed the journal', async () => {
    await leaveCall();
    const killed = recoverer({ remove: () => Promise.reject(new Error('killed')) });
    await expect(killed()).rejects.toThrow('killed');
    await lateTake();
    await expectRest();
  });

  it('after its process was killed while it removed its journal', async () => {
    await journals.create(journal, { number: 0, entries: [] });
    const allowance = new Allowance({
      ...{ journal, store: periods, shares: createShares(() => Promise.resolve()) },
      ...{ monotonic: () => performance.now(), sleep: () => Promise.resolve() },
    });
    const claim = { periods: [terms], amount: ceiling, payer: 'k' };
    expect(await allowance.reserve(claim)).toBe(true);
    allowance.release(claim, ceiling);
    const costs = new Map([[terms.id, allowance.count(terms.id, ceiling)]]);
    await journals.write(journal, 0, { batch: { number: 1, entries: [] }, ended: [0], costs }, false);
    allowance.settled(costs);
    expect(await allowance.close()).toBe(true);
    await lateTake();
    await expectRest();
  });
});
