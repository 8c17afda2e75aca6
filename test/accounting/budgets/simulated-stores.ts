/** What the database has of budgets and journals, in memory. Whoever uses it decides when each command is applied. */
import { createAccounts } from '../../../src/accounting/budgets/accounts.ts';
import type { Account, PeriodStore, Slice } from '../../../src/accounting/budgets/period-store.ts';
import type { InvocationDocument } from '../../../src/accounting/invocations/invocation.ts';
import type { JournalStore } from '../../../src/accounting/invocations/journal-store.ts';
import { createRecovery } from '../../../src/accounting/invocations/recovery.ts';
import { createLogger } from '../../../src/observability/logger.ts';

/** A call that is in a journal. */
export interface SimulatedEntry {
  readonly period: string;
  readonly ceiling: number;
}

export interface SimulatedJournal {
  state: 'open' | 'closed';
  seq: number;
  readonly open: Map<string, SimulatedEntry>;
  readonly settled: Map<string, number>;
}

export interface SimulatedPeriod {
  limit: number;
  revision: number;
  taken: number;
  spent: number;
  readonly slices: Map<string, Slice>;
}

export interface SimulatedRecord {
  readonly period: string;
  readonly cost: number;
}

export interface SimulatedDatabase {
  readonly periods: Map<string, SimulatedPeriod>;
  readonly journals: Map<string, SimulatedJournal>;
  readonly records: Map<string, SimulatedRecord>;
}

/** Sends a command to the database. */
export type Command = <Result>(apply: () => Result) => Promise<Result>;

/** The first record with an id counts. */
export function insertRecord({ records }: SimulatedDatabase, id: string, record: SimulatedRecord): SimulatedRecord {
  const stored = records.get(id) ?? record;
  records.set(id, stored);
  return stored;
}

/** @throws {Error} `taken` is not what is spent and all amounts, or is more than the limit */
export function checkPeriod({ taken, spent, slices }: SimulatedPeriod, limit: number): void {
  const amounts = [...slices.values()].reduce((sum, { amount }) => sum + amount, 0);
  if (taken !== spent + amounts) throw new Error(`taken ${taken} is not ${spent} + ${amounts}`);
  if (taken > limit) throw new Error(`taken ${taken} is more than ${limit}`);
}

/** @param onChange called after each change of a period */
export function simulatePeriodStore(
  { periods }: SimulatedDatabase,
  command: Command,
  onChange: (id: string) => void,
): Omit<PeriodStore, 'spending' | 'announce'> {
  const find = (id: string): Account | undefined => structuredClone(periods.get(id));
  return {
    ensure: ({ id, limit, revision }) =>
      command(() => {
        const period = periods.get(id);
        if (period === undefined) periods.set(id, { limit, revision, taken: 0, spent: 0, slices: new Map() });
        else if (period.revision < revision) Object.assign(period, { limit, revision });
      }),
    find: (id) => command(() => find(id)),
    findAll: (ids) =>
      command(() => {
        const found = ids.map((id) => [id, find(id)] as const);
        return new Map(found.flatMap(([id, account]) => (account === undefined ? [] : [[id, account]])));
      }),
    change: (id, journal, { from, to, amount, settled, taken, spent, within }) =>
      command(() => {
        const period = periods.get(id);
        const slice = period?.slices.get(journal);
        if (period === undefined || slice?.seq !== from) return false;
        if (within !== undefined && (period.revision !== within.revision || period.taken > within.taken)) return false;
        period.taken += taken;
        period.spent += spent;
        const before = slice ?? { amount: 0, settled: 0 };
        if (to === undefined) period.slices.delete(journal);
        else period.slices.set(journal, { seq: to, amount: before.amount + amount, settled: before.settled + settled });
        onChange(id);
        return true;
      }),
    slicesOf: (journal) =>
      command(() => {
        const found = [...periods].map(([id, { slices }]) => [id, slices.get(journal)] as const);
        return new Map(found.flatMap(([id, slice]) => (slice === undefined ? [] : [[id, { ...slice }]])));
      }),
    holders: () => command(() => new Set([...periods.values()].flatMap(({ slices }) => [...slices.keys()]))),
    refuse: () => Promise.resolve(),
    expire: () => Promise.resolve(),
  };
}

const log = createLogger('silent');

/** The recovery of the service. @param isDead whether the process of a journal is taken for dead */
export function simulateRecovery(
  database: SimulatedDatabase,
  command: Command,
  periods: Pick<PeriodStore, 'change' | 'slicesOf' | 'holders'>,
  isDead: (journal: string) => boolean,
): () => Promise<void> {
  const { journals, records } = database;
  const store: Pick<JournalStore, 'list' | 'close' | 'remove'> = {
    list: () => command(() => [...journals].map(([id, { seq, state }]) => ({ id, seq, isClosed: state === 'closed' }))),
    close: ({ id, seq }) =>
      command(() => {
        const journal = journals.get(id);
        if (journal?.seq === seq) journal.state = 'closed';
        if (journal?.state !== 'closed') return undefined;
        const entries = [...journal.open].map(([entry, call]) => entryOf(entry, call));
        return { entries, settled: new Map(journal.settled) };
      }),
    remove: (id, seq) =>
      command(() => {
        if (journals.get(id)?.seq === seq) journals.delete(id);
      }),
  };
  return createRecovery({
    store: store as JournalStore,
    journals: { owns: (journal) => !isDead(journal) },
    records: {
      insert: (documents) =>
        command(() => {
          const taken = documents.map(({ _id }) => _id).filter((id) => records.has(id));
          for (const { _id, attempts } of documents) {
            const [{ budgets: [period = ''] = [], cost = 0 } = {}] = attempts;
            insertRecord(database, _id, { period, cost: Number(cost) });
          }
          return taken;
        }),
      attemptsOf: (ids) =>
        command(() =>
          ids.flatMap((id) => {
            const { period = '', cost = 0 } = records.get(id) ?? {};
            return [entryOf(id, { period, ceiling: cost }).attempts];
          }),
        ),
    },
    accounts: createAccounts(periods),
    log,
    onInterrupted: () => undefined,
    monotonic: () => 0,
    termMs: 0,
  });
}

function entryOf(_id: string, { period, ceiling }: SimulatedEntry): InvocationDocument {
  const created_at = new Date(0);
  const attempt = { provider: 'mock', model: 'model-a', status: 'interrupted', started_at: created_at } as const;
  return {
    ...{ _id, created_at, operation: 'invoke', status: 'interrupted' },
    ...{ author: { type: 'key', id: 'k', name: 'K' }, request_id: 'r', streamed: false, cached: false },
    attempts: [{ ...attempt, budgets: [period], usage_source: 'ceiling', cost: ceiling }],
  };
}
