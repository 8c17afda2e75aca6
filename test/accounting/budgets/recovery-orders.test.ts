/**
 * Every order in which the commands of a process, those of it that arrive late, and those of two others that recover its
 * journal can reach the database. Each of them can be killed after each command; then others recover what is left.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Allowance } from '../../../src/accounting/budgets/allowance.ts';
import type { PeriodStore, SliceChange } from '../../../src/accounting/budgets/period-store.ts';
import { createShares } from '../../../src/accounting/budgets/shares.ts';
import {
  checkPeriod,
  insertRecord,
  simulatePeriodStore,
  simulateRecovery,
  type Command,
  type SimulatedDatabase,
  type SimulatedJournal,
} from './simulated-stores.ts';

const period = 'a-budget|2026-11-23';
const journal = 'a-journal';
const limit = 1_000;
const ceiling = 40;
const cost = 20;

/** Sends commands one after another. */
type Actor = (database: SimulatedDatabase, command: Command) => Promise<unknown>;

interface Scenario {
  readonly begin: () => SimulatedDatabase;
  readonly actors: Readonly<Record<string, Actor>>;
  /** Each is one command, which arrives at any time or never. */
  readonly late: Readonly<Record<string, Actor>>;
}

function periodsOf(database: SimulatedDatabase, command: Command): Omit<PeriodStore, 'spending' | 'announce'> {
  return simulatePeriodStore(database, command, () => undefined);
}

const recover: Actor = (database, command) =>
  simulateRecovery(database, command, periodsOf(database, command), () => true)();
/** The second run removes the slices of a journal that the first has removed. */
const recoverTwice: Actor = async (database, command) => {
  await recover(database, command);
  await recover(database, command);
};

const change =
  (more: Pick<SliceChange, 'from' | 'to'> & Partial<SliceChange>): Actor =>
  (database, command) =>
    periodsOf(database, command).change(period, journal, { amount: 0, settled: 0, taken: 0, spent: 0, ...more });

const immediately: Command = (apply) => Promise.resolve(apply());

/** What the log has. */
function logged({ records }: SimulatedDatabase): number {
  return [...records.values()].reduce((sum, record) => sum + record.cost, 0);
}

/** Applies the commands of a schedule in its order. */
async function replay({ begin, actors, late }: Scenario, schedule: readonly string[]) {
  const database = begin();
  const waiting = new Map<string, () => void>();
  const answers = new Map<string, unknown[]>();
  const failures: unknown[] = [];
  for (const [name, actor] of Object.entries({ ...actors, ...late })) {
    const got: unknown[] = [];
    answers.set(name, got);
    const command: Command = (apply) =>
      new Promise((resolve) => {
        waiting.set(name, () => {
          const answer = apply();
          got.push(answer);
          resolve(answer);
        });
      });
    actor(database, command).catch((error: unknown) => failures.push(error));
  }
  await nextTurn();
  for (const name of schedule) {
    const apply = waiting.get(name);
    waiting.delete(name);
    apply?.();
    await nextTurn();
  }
  if (failures.length > 0) throw failures[0];
  return { database, waiting: [...waiting.keys()], state: textOf([database, answers]) };
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    member instanceof Map || member instanceof Set ? [...member] : member,
  );
}

/**
 * @param first commands that come before all others
 * @returns the number of different states
 */
async function explore(scenario: Scenario, first: readonly string[] = []): Promise<number> {
  const seen = new Set<string>();
  const schedules = [first];
  for (let schedule = schedules.pop(); schedule !== undefined; schedule = schedules.pop()) {
    const { database, waiting, state } = await replay(scenario, schedule);
    if (seen.has(state)) continue;
    seen.add(state);
    for (const name of waiting) schedules.push([...schedule, name]);
    const arriving = Object.entries(scenario.late).flatMap(([name, actor]) => (waiting.includes(name) ? [actor] : []));
    try {
      for (const one of database.periods.values()) {
        checkPeriod(one, limit);
        if (one.spent > logged(database)) throw new Error('more is spent than the log has');
      }
      // All are killed. What is late arrives before others recover, or after.
      for (const isBefore of arriving.length > 0 ? [true, false] : [true]) {
        const left = structuredClone(database);
        if (!isBefore) await recoverTwice(left, immediately);
        for (const actor of arriving) await actor(left, immediately);
        await recoverTwice(left, immediately);
        const sum = logged(left);
        const rest = { limit, revision: 1, taken: sum, spent: sum, slices: new Map() };
        expect(textOf([left.periods.get(period), left.journals])).toBe(textOf([rest, []]));
      }
    } catch (error) {
      throw new Error(`after ${schedule.join(', ')}`, { cause: error });
    }
  }
  return seen.size;
}

const recoverers = { first: recoverTwice, second: recover };
/** The process believed that it was lost, and took again. */
const lateFirstTake = change({ from: undefined, to: 1, amount: 100, taken: 100 });

describe('the costs in a journal count once', () => {
  const late: Readonly<Record<string, Actor>> = {
    'a first take': lateFirstTake,
    'what decides a first take': change({ from: undefined, to: 2 }),
    'a take': change({ from: 3, to: 4, amount: 100, taken: 100 }),
    'a report': change({ from: 3, to: 5, amount: -20, settled: 20, spent: 20 }),
    'a record': (database, command) => command(() => insertRecord(database, 'second-call', { period, cost })),
  };
  /** Of two calls the first is settled, a part of it reported; the second is in progress. */
  const begin = (): SimulatedDatabase => ({
    periods: new Map([
      [
        period,
        {
          limit,
          revision: 1,
          taken: 110,
          spent: 10,
          slices: new Map([[journal, { seq: 3, amount: 100, settled: 10 }]]),
        },
      ],
    ]),
    journals: new Map([
      [
        journal,
        {
          state: 'open',
          seq: 1,
          open: new Map([['second-call', { period, ceiling }]]),
          settled: new Map([[period, 30]]),
        },
      ],
    ]),
    records: new Map([['first-call', { period, cost: 30 }]]),
  });

  it.each([
    ['a first take', 'a record'],
    ['what decides a first take', 'a report'],
    ['a take', 'a report'],
  ])('when its process is dead: late are %s, and %s', async (one, other) => {
    const some = Object.fromEntries([one, other].flatMap((name) => (late[name] ? [[name, late[name]]] : [])));
    // Both have seen the journal.
    const seen = ['first', 'first', 'second', 'second'];
    const states = await explore({ begin, actors: recoverers, late: some }, seen);
    expect(states).toBeGreaterThan(500);
  });
});

describe('the costs of a process that lives count once', () => {
  const begin = (): SimulatedDatabase => ({
    periods: new Map([[period, { limit, revision: 1, taken: 0, spent: 0, slices: new Map() }]]),
    journals: new Map([[journal, { state: 'open', seq: 0, open: new Map(), settled: new Map() }]]),
    records: new Map(),
  });

  /** Makes a call, and removes its journal. */
  const live: Actor = async (database, command) => {
    const terms = { id: period, since: new Date(0), resetsAt: undefined, budget: 'all', budgetId: 'a-budget' };
    const claim = { periods: [{ ...terms, limit, revision: 1, isShared: false }], amount: ceiling, payer: 'k' };
    const allowance = new Allowance({
      ...{ journal, store: periodsOf(database, command), shares: createShares(() => Promise.resolve()) },
      ...{ monotonic: () => 0, sleep: () => Promise.resolve() },
    });
    const write = async (seq: number, apply: (stored: SimulatedJournal) => void): Promise<boolean> => {
      const isWritten = await command(() => {
        const stored = database.journals.get(journal);
        if (stored?.state !== 'open' || stored.seq !== seq) return false;
        stored.seq += 1;
        apply(stored);
        return true;
      });
      if (!isWritten) allowance.end();
      return isWritten;
    };
    if (!(await allowance.reserve(claim))) return;
    if (!(await write(0, ({ open }) => open.set('call', { period, ceiling })))) return;
    await command(() => insertRecord(database, 'call', { period, cost }));
    allowance.release(claim, ceiling);
    allowance.count(period, cost);
    const settle = ({ open, settled }: SimulatedJournal): void => {
      open.delete('call');
      settled.set(period, cost);
    };
    if (!(await write(1, settle))) return;
    allowance.settled(new Map([[period, cost]]));
    if (await allowance.close()) await command(() => database.journals.delete(journal));
  };

  it('when others recover its journal, and a first take is late', async () => {
    const lateTake = change({ from: undefined, to: 100, amount: 100, taken: 100 });
    const states = await explore({ begin, actors: { first: recoverTwice, live }, late: { 'a first take': lateTake } });
    expect(states).toBeGreaterThan(1_000);
  });
});
