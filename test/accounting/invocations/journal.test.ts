import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Allowance } from '../../../src/accounting/budgets/allowance.ts';
import { createShares } from '../../../src/accounting/budgets/shares.ts';
import { createAccounts } from '../../../src/accounting/budgets/accounts.ts';
import { createPeriodStore } from '../../../src/accounting/budgets/period-store.ts';
import { databaseUnavailable } from '../../../src/storage/db/database-errors.ts';
import type { InvocationDocument } from '../../../src/accounting/invocations/invocation.ts';
import {
  createJournalStore,
  type Batch,
  type JournalStore,
} from '../../../src/accounting/invocations/journal-store.ts';
import type { JournalTerms } from '../../../src/accounting/invocations/journal.ts';
import { createJournals, type Journals } from '../../../src/accounting/invocations/journals.ts';
import { system } from '../../../src/base/runtime/system.ts';
import { setUp } from '../../support/per-operation.ts';
import { until } from '../../support/until.ts';

const setup = setUp();

function entry(): InvocationDocument {
  const members = {
    author: { type: 'key', id: 'k', name: 'K' } as const,
    request_id: 'r',
    streamed: false,
    cached: false,
    attempts: [],
  };
  return { _id: randomUUID(), created_at: new Date(), operation: 'invoke', status: 'interrupted', ...members };
}

const shares = createShares(() => sleep(0));
const createAllowance = (journal: string): Allowance =>
  new Allowance({
    journal,
    store: createPeriodStore(setup.database),
    shares,
    monotonic: system.clock.monotonic,
    sleep,
  });

let journals: Journals;
afterEach(() => journals.close());

/** @param overrides of the store, which get the real one */
function open(
  overrides: (real: JournalStore) => Partial<JournalStore> = () => ({}),
  beatMs = 60_000,
  onError?: JournalTerms['onError'],
): JournalStore {
  const real = createJournalStore(setup.database);
  const terms = { beatMs, reportMs: 60_000, gatherMs: () => 0, ...(onError && { onError }) };
  journals = createJournals({ store: { ...real, ...overrides(real) }, createAllowance, random: system.random, terms });
  return real;
}

const put = async (one: InvocationDocument): Promise<InvocationDocument> => {
  await journals.put(one._id, one);
  return one;
};
const putNew = (): Promise<InvocationDocument> => put(entry());

describe('a journal', () => {
  it('writes together what is added together, and removes it together with the next write', async () => {
    const writes: number[] = [];
    const store = open((real) => ({
      create: (id, batch) => (writes.push(batch.entries.length), real.create(id, batch)),
      write: (id, seq, write, isRepeated) => (
        writes.push(write.batch.entries.length),
        real.write(id, seq, write, isRepeated)
      ),
    }));
    const [first, second] = await Promise.all([putNew(), putNew()]);
    expect((await store.entryIds()).toSorted()).toEqual([first._id, second._id].toSorted());
    journals.end(first._id, []);
    const third = await putNew();
    expect((await store.entryIds()).toSorted()).toEqual([first._id, second._id, third._id].toSorted());
    journals.end(second._id, []);
    const fourth = await putNew();
    expect((await store.entryIds()).toSorted()).toEqual([third._id, fourth._id].toSorted());
    expect(writes).toEqual([2, 1, 1]);
    for (const { _id } of [third, fourth]) journals.end(_id, []);
  });

  it('replaces an entry by a later one', async () => {
    const store = open();
    const [first, other] = await Promise.all([putNew(), putNew()]);
    const again = await put({ ...first, streamed: true });
    const [journal] = await store.list();
    if (journal === undefined) throw new Error('there is no journal');
    expect((await store.close(journal))?.entries).toEqual([again, other]);
    await store.remove(journal.id, journal.seq);
  });

  it('is removed when the process stops, if nothing is left in it', async () => {
    const store = open();
    const { _id } = await putNew();
    journals.end(_id, []);
    await journals.close();
    expect(await store.list()).toEqual([]);
  });

  it('is removed when nothing was added for some beats', async () => {
    const store = open(undefined, 10);
    journals.end((await putNew())._id, []);
    await until(
      () => store.list(),
      (list) => list.length === 0,
    );
    // The next call begins another.
    journals.end((await putNew())._id, []);
  });

  it('repeats a write whose answer was lost, until it knows that it was applied', async () => {
    let isLost = true;
    const store = open((real) => ({
      async write(...write) {
        const outcome = await real.write(...write);
        if (!isLost) return outcome;
        isLost = false;
        throw databaseUnavailable(new Error('lost'));
      },
    }));
    const first = await putNew();
    const lost = entry();
    await expect(put(lost)).rejects.toMatchObject({ type: 'database-unavailable' });
    journals.end(lost._id, []);
    const next = await putNew();
    expect((await store.entryIds()).toSorted()).toEqual([first._id, next._id].toSorted());
    for (const { _id } of [first, next]) journals.end(_id, []);
  });

  it('takes nothing more after another process has closed it', async () => {
    const store = open();
    const first = await putNew();
    const [journal] = await store.list();
    if (journal === undefined) throw new Error('there is no journal');
    expect((await store.close(journal))?.entries.map(({ _id }) => _id)).toEqual([first._id]);
    // What is new goes to another one. What the other process has recorded cannot go on.
    const second = await putNew();
    await expect(put(first)).rejects.toMatchObject({ type: 'database-unavailable' });
    await store.remove(journal.id, journal.seq);
    expect(await store.entryIds()).toEqual([second._id]);
    journals.end(second._id, []);
  });

  it('is left by an entry whose first attempt was canceled while another one began', async () => {
    const store = open();
    const one = entry();
    const terms = { id: 'a-budget|once', since: new Date(), resetsAt: undefined, budget: 'all', budgetId: 'a-budget' };
    const claim = { periods: [{ ...terms, limit: 100, revision: 1, isShared: false }], amount: 30, payer: 'k' };
    const attempt = { provider: 'p', model: 'm', status: 'interrupted' as const, started_at: new Date() };
    const left = new AbortController();
    const first = journals.put(one._id, one, { claim, attempt, signal: left.signal });
    const second = journals.put(one._id, one, { claim, attempt, signal: new AbortController().signal });
    left.abort(new Error('left'));
    await expect(first).rejects.toThrow('left');
    await second;
    journals.end(one._id, []);
    const next = await putNew();
    expect(await store.entryIds()).toEqual([next._id]);
    journals.end(next._id, []);
    await journals.close();
    expect(await store.list()).toEqual([]);
    const periods = createPeriodStore(setup.database);
    const account = await periods.find(terms.id);
    expect(account).toMatchObject({ taken: 0, spent: 0 });
    expect([...(account?.slices.values() ?? [])]).toMatchObject([{ amount: 0, settled: 0 }]);
    // Any process removes the slices of a journal that is gone.
    for (const journal of await periods.holders()) await createAccounts(periods).remove(journal);
    expect((await periods.find(terms.id))?.slices).toEqual(new Map());
  });

  it('begins another one when it is full', async () => {
    const store = open();
    const all = await Promise.all(Array.from({ length: 257 }, putNew));
    expect(await store.list()).toHaveLength(2);
    for (const { _id } of all) journals.end(_id, []);
  });

  it('leaves out an entry that the database refuses, and takes those beside and after it', async () => {
    const errors: unknown[] = [];
    const refused = entry();
    const check = (batch: Batch): void => {
      if (batch.entries.some(({ _id }) => _id === refused._id)) throw new TypeError('a mistake in the program');
    };
    const refusing = (real: JournalStore): Partial<JournalStore> => ({
      async create(id, batch) {
        check(batch);
        return await real.create(id, batch);
      },
      async write(id, seq, write, isRepeated) {
        check(write.batch);
        return await real.write(id, seq, write, isRepeated);
      },
    });
    const store = open(refusing, 60_000, (error, { invocations }) => errors.push({ error, invocations }));
    for (let each = 0; each < 2; each += 1) {
      const healthy = [entry(), entry()] as const;
      const outcomes = await Promise.allSettled([put(healthy[0]), put(refused), put(healthy[1])]);
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      journals.end(refused._id, []);
      const next = await putNew();
      const written = [...healthy, next].map(({ _id }) => _id);
      expect(await store.entryIds()).toEqual(expect.arrayContaining(written));
      expect(await store.entryIds()).not.toContain(refused._id);
      for (const id of written) journals.end(id, []);
    }
    expect(errors).toEqual(Array(2).fill({ error: expect.any(TypeError), invocations: [refused._id] }));
  });

  it('keeps an entry until what replaces it is written, or was refused alone', async () => {
    let isRefused = false;
    const seen: string[][] = [];
    const refusing = (real: JournalStore): Partial<JournalStore> => ({
      async write(id, seq, write, isRepeated) {
        seen.push(await real.entryIds());
        if (isRefused && write.batch.entries.some(({ streamed }) => streamed)) throw new TypeError('a mistake');
        return await real.write(id, seq, write, isRepeated);
      },
    });
    const store = open(refusing);
    const [refused, sound] = [await putNew(), await putNew()];
    isRefused = true;
    seen.length = 0;
    const outcomes = await Promise.allSettled([put({ ...refused, streamed: true }), put({ ...sound, cached: true })]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    seen.push(await store.entryIds());
    // Both, before each write and at the end.
    for (const ids of seen) expect(new Set(ids)).toEqual(new Set([refused._id, sound._id]));
    isRefused = false;
    for (const { _id } of [refused, sound]) journals.end(_id, []);
    const next = await putNew();
    expect(await store.entryIds()).toEqual([next._id]);
    journals.end(next._id, []);
  });

  it('ends if it cannot be written at all, and so does the call', async () => {
    let writes = 0;
    open(() => ({
      create: () => Promise.resolve('written'),
      write: () => {
        writes += 1;
        return Promise.reject(new TypeError('a mistake in the program'));
      },
    }));
    const first = await putNew();
    await expect(putNew()).rejects.toThrow('a mistake');
    expect(writes).toBeLessThan(4);
    journals.end(first._id, []);
  });

  it('is not begun again and again if others close each', async () => {
    let begun = 0;
    open(() => ({
      create() {
        begun += 1;
        return Promise.resolve('lost' as 'written');
      },
    }));
    await expect(putNew()).rejects.toMatchObject({ type: 'database-unavailable' });
    expect(begun).toBeLessThan(10);
  });
});
