/** How quarters of an hour are added up. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createBudgetFeature } from '../../../src/accounting/budgets/feature.ts';
import { createInvocationFeature } from '../../../src/accounting/invocations/feature.ts';
import type {
  CallAttemptDocument,
  CalledDocument,
  InvocationDocument,
} from '../../../src/accounting/invocations/invocation.ts';
import { createInvocationId } from '../../../src/accounting/invocations/invocation-id.ts';
import { createInvocationStore } from '../../../src/accounting/invocations/invocation-store.ts';
import { createJournalStore } from '../../../src/accounting/invocations/journal-store.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { system } from '../../../src/base/runtime/system.ts';
import { createSecretBox } from '../../../src/base/secrets/secret-box.ts';
import { createSpending, type Dimension, type Records, type Spending } from '../../../src/accounting/costs/spending.ts';
import {
  createSpendingStore,
  spendingIndexes,
  type SpendingStore,
} from '../../../src/accounting/costs/spending-store.ts';
import { SumsOfRecords, type Sums } from '../../../src/accounting/costs/sums.ts';
import { createIndexes, createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
const now = new Date('2026-03-12T10:07:00Z');
beforeAll(async () => {
  database = await createTestDatabase();
  await createIndexes(database, [spendingIndexes]);
});
afterAll(() => database.drop());

interface OtherProcess {
  readonly database?: TestDatabase;
  readonly aheadMs?: number;
  readonly write?: SpendingStore['write'];
}

/** What a process knows of spending. */
function startSpending({ database: own = database, aheadMs = 0, write }: OtherProcess = {}): Spending {
  const clock = { ...system.clock, now: () => new Date(now.getTime() + aheadMs) };
  const prices = { quote: () => undefined };
  const addedUpUntil = async (): Promise<undefined> => undefined;
  const log = createLogger('silent');
  const { records } = createInvocationFeature({
    ...system,
    clock,
    database: own,
    log,
    prices,
    statistics: { called: () => undefined, recorded: () => undefined, rated: () => undefined },
    budgets: createBudgetFeature({ ...system, database: own }),
    retentionMs: 1,
    content: { mode: 'off', retentionMs: 1, secrets: createSecretBox(new Uint8Array(32)) },
    addedUpUntil,
  });
  const store = createSpendingStore(own);
  return createSpending({ store: { ...store, write: write ?? store.write }, records, clock, journalledMs: 3 * 60_000 });
}

function record(time: string, attempts: Partial<CallAttemptDocument>[], more: Partial<InvocationDocument> = {}) {
  const created_at = new Date(time);
  const made = attempts.map((one) => ({
    ...{ provider: 'mock', model: 'model-a', status: 'succeeded' as const, started_at: created_at },
    ...one,
  }));
  const members = {
    author: { type: 'key', id: 'k', name: 'K' } as const,
    request_id: 'r',
    streamed: false,
    cached: false,
  };
  const document: InvocationDocument = {
    ...{ _id: createInvocationId(created_at, randomUUID()), created_at, operation: 'invoke', status: 'succeeded' },
    ...members,
    attempts: made,
    ...more,
  };
  return document;
}

const usage = { inputTokens: 10, outputTokens: 5 };
const paid = (cost: bigint | number): Partial<CallAttemptDocument> => ({ usage, usage_source: 'provider', cost });

async function sums(
  spending: Spending,
  by: Dimension = 'day',
  filter: object = {},
): Promise<{ total: Sums; groups: (string | bigint)[][]; until: string }> {
  const query = { by, since: Date.parse('2026-03-01'), until: Date.parse('2026-03-13'), ...filter };
  const { total, spent, completeUntil } = await spending.get(query);
  const groups = spent.map(({ day, group, sums: { cost } }) => [
    { day, key: group.keyId, prompt: group.promptId, version: String(group.promptVersion), ...group }[by] ?? '',
    cost,
  ]);
  return { total, groups, until: new Date(completeUntil).toISOString() };
}

it('reads what is not closed for a second at the longest, and says how far it came', async () => {
  const of = (batch: number): CalledDocument[] => {
    const at = new Date(now.getTime() - 3_600_000 + batch * 60_000).toISOString();
    return Array.from({ length: 500 }, () => record(at, [paid(1n)]));
  };
  const answerOf = (pauses: readonly number[], batches: number) => {
    const records: Records = {
      async *called() {
        for (let batch = 0; batch < batches; batch += 1) {
          if (pauses.includes(batch)) await sleep(1_100);
          yield of(batch);
        }
      },
      firstDay: () => Promise.resolve(Date.parse('2026-03-12')),
      oldestOpen: () => Promise.resolve(undefined),
    };
    const store = { ...createSpendingStore(database), closedUntil: async () => undefined };
    const clock = { now: () => now };
    const spending = createSpending({ store, records, clock, journalledMs: 3 * 60_000 });
    return spending.get({ by: 'day', since: Date.parse('2026-03-12'), until: Date.parse('2026-03-13') });
  };
  // Few are read however long it takes.
  expect(await answerOf([1], 3)).toMatchObject({ total: { calls: 1_500 }, addedUpUntil: undefined });
  const { total, addedUpUntil = 0 } = await answerOf([6], 50);
  const read = Array.from({ length: 50 }, (_, batch) => of(batch)).flat();
  expect(total.calls).toBe(read.filter(({ created_at: at }) => at.getTime() < addedUpUntil).length);
  expect(total.calls).toBeGreaterThanOrEqual(2_000);
});

it('adds up closed quarters once, and the others for each answer', async () => {
  const store = createInvocationStore(database);
  const journals = createJournalStore(database);
  // Large amounts are no exact double.
  const ceiling = { usage, usage_source: 'ceiling', cost: 9_007_199_254_740_993n, estimate: { usage } } as const;
  await store.insert([
    record('2026-03-11T23:59:59.999Z', [paid(3), { cost: 0 }], { tags: ['team=a', 'env=x'], prompt_id: 'p1' }),
    record('2026-03-12T09:00:00Z', [paid(2n), ceiling], {
      tags: ['team=a'],
      author: { type: 'key', id: 'other', name: 'K' },
    }),
    record('2026-03-12T09:30:00Z', [{ usage, usage_source: 'estimated', status: 'failed' }], {
      prompt_id: 'p2',
      prompt_version: 2,
    }),
    record('2026-03-12T10:05:00Z', [{ ...paid(7n), model: 'model-b' }], { tags: ['team=b'] }),
    record('2026-03-12T10:05:30Z', [], { cached: true }),
  ]);
  const estimated = { estimatedInputTokens: 20, estimatedOutputTokens: 10 };
  const all = { calls: 6, failedCalls: 1, inputTokens: 30, outputTokens: 15, ...estimated, withoutCost: 1 };
  const large = 9_007_199_254_740_993n;
  const expected = { total: { ...all, cost: large + 12n, ceilingCost: large } };
  const days = [
    ['2026-03-11', 3n],
    ['2026-03-12', large + 9n],
  ];
  expect(await sums(startSpending())).toMatchObject({ ...expected, groups: days, until: '2026-03-11T00:00:00.000Z' });

  // An invocation that began at 09:20 is still in a journal.
  const open = record('2026-03-12T09:20:00Z', [paid(100n)]);
  const journal = randomUUID();
  await journals.create(journal, { number: 0, entries: [{ ...open, attempts: [] }] });
  await Promise.all([startSpending().close(), startSpending().close()]);
  expect(await sums(startSpending())).toMatchObject({ ...expected, groups: days, until: '2026-03-12T09:15:00.000Z' });
  await store.insert([open]);
  await journals.remove(journal, 0);
  await startSpending().close();
  await startSpending().close();
  const total = { ...expected.total, calls: 7, inputTokens: 40, outputTokens: 20, cost: large + 112n };
  const answer = await sums(startSpending());
  expect(answer).toMatchObject({ total, until: '2026-03-12T10:00:00.000Z' });

  // The same from all dimensions, and by parts.
  const other = startSpending();
  for (const by of ['key', 'prompt', 'version', 'model', 'tag'] as const)
    expect((await sums(other, by)).total).toEqual(total);
  expect((await sums(other, 'tag')).groups).toEqual([
    ['team=a', large + 5n],
    ['team=b', 7n],
    ['env=x', 3n],
  ]);
  expect((await sums(other, 'model')).groups).toEqual([
    ['model-a', large + 105n],
    ['model-b', 7n],
  ]);
  expect((await sums(other, 'day', { tag: 'team=a' })).total.cost).toBe(large + 5n);
  expect((await sums(other, 'day', { model: 'model-b' })).total.cost).toBe(7n);
  expect((await sums(other, 'key', { promptIds: new Set(['p1']) })).groups).toEqual([['k', 3n]]);
  const part = { since: Date.parse('2026-03-12T09:15:00Z'), until: Date.parse('2026-03-12T10:00:00Z') };
  expect((await sums(other, 'day', part)).total).toMatchObject({ calls: 2, cost: 100n });
});

it('adds up more than fits into an int64', async () => {
  const most = 1_000_000_000_000_000_000n;
  const sum = 11n * most + 55n;
  const large = Array.from({ length: 11 }, (_, index) => record('2026-03-12T08:45:00Z', [paid(most + BigInt(index))]));
  const records = new SumsOfRecords();
  for (const one of large) records.add({ ...one, author: { type: 'key', id: 'large', name: 'K' } });
  await createSpendingStore(database).write(Date.parse('2026-03-12T08:45:00Z'), [...records.groups.values()]);
  const { total, groups } = await sums(startSpending(), 'key', { keyId: 'large' });
  expect([total.calls, total.cost, groups]).toEqual([11, sum, [['large', sum]]]);
});

describe('of processes that add up', () => {
  let own: TestDatabase;
  let total: object;
  beforeEach(async () => {
    own = await createTestDatabase();
    await createIndexes(own, [spendingIndexes]);
    const times = ['08:00', '08:20', '08:50', '09:30'];
    await createInvocationStore(own).insert(times.map((time) => record(`2026-03-12T${time}:00Z`, [paid(1n)])));
    total = { calls: 4, cost: 4n };
  });
  afterEach(() => own.drop());

  it('others go on when one is killed whose clock is a day ahead', async () => {
    const store = createSpendingStore(own);
    let writes = 0;
    const ahead = startSpending({
      ...{ database: own, aheadMs: 24 * 3_600_000 },
      async write(...quarter) {
        writes += 1;
        if (writes === 2) throw new Error('killed');
        await store.write(...quarter);
      },
    });
    await expect(ahead.close()).rejects.toThrow('killed');
    expect(await sums(startSpending({ database: own }))).toMatchObject({ total, until: '2026-03-12T08:15:00.000Z' });
    await startSpending({ database: own }).close();
    expect(await sums(startSpending({ database: own }))).toMatchObject({ total, until: '2026-03-12T10:00:00.000Z' });
  });

  it('lose nothing that one whose clock is a day ahead has closed too early', async () => {
    await startSpending({ database: own, aheadMs: 24 * 3_600_000 }).close();
    await createInvocationStore(own).insert([record('2026-03-12T10:05:00Z', [paid(1n)])]);
    const more = { calls: 5, cost: 5n };
    expect(await sums(startSpending({ database: own }))).toMatchObject({
      total: more,
      until: '2026-03-12T10:00:00.000Z',
    });
    await startSpending({ database: own }).close();
    const later = startSpending({ database: own, aheadMs: 3_600_000 });
    await later.close();
    expect(await sums(later)).toMatchObject({ total: more, until: '2026-03-12T11:00:00.000Z' });
    expect(await createSpendingStore(own).closedUntil()).toBe(Date.parse('2026-03-12T11:00:00Z'));
  });

  it('one stops when another has closed more, and takes nothing back', async () => {
    const store = createSpendingStore(own);
    const written: number[] = [];
    const slow = startSpending({
      database: own,
      async write(start, groups) {
        written.push(start);
        await startSpending({ database: own }).close();
        await store.write(start, groups);
      },
    });
    await slow.close();
    expect(written).toEqual([Date.parse('2026-03-12T08:00:00Z')]);
    expect(await sums(startSpending({ database: own }))).toMatchObject({ total, until: '2026-03-12T10:00:00.000Z' });
  });
});
