import type { Collection, Filter, UpdateFilter } from 'mongodb';
import { fromStored, mostOfBudget, type StoredMoney } from '../../base/runtime/money.ts';
import { expiryIndex, type CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import { withRetry } from '../../storage/db/retry.ts';
import { read, upsertOnce, writeIdempotently } from '../../storage/db/writes.ts';
import type { OutboxEntry } from '../../webhooks/events/event.ts';
import { outboxIndex, pushEvents, type OutboxCollection, type WithOutbox } from '../../webhooks/events/outbox.ts';
import type { Period } from './budget.ts';

/** A period under the terms that its budget has now. */
export interface PeriodTerms extends Period {
  /** Name of the budget. */
  readonly budget: string;
  readonly budgetId: string;
  readonly limit: number;
  /** Of the budget: a greater one has the newer limit. */
  readonly revision: number;
  /** Whether keys share it that did not lead to one another. */
  readonly isShared: boolean;
}

/** The part of a period that a journal has taken: what calls of its process may still cost. */
export interface Slice {
  /** Changes with each write; any number that no other write of this slice has. */
  readonly seq: number;
  /** What was taken for it, without what is in `spent`. */
  readonly amount: number;
  /** What of the journal's settled costs is in `spent`. */
  readonly settled: number;
}

/**
 * What was spent in a period, and what is taken: `taken` is `spent` and the amounts of all slices. It never exceeds the
 * limit when something is taken. Amounts are nano-dollars.
 */
export interface Account {
  readonly limit: number;
  readonly revision: number;
  readonly taken: number;
  readonly spent: number;
  /** By the id of the journal. */
  readonly slices: ReadonlyMap<string, Slice>;
  readonly refused?: Refused | undefined;
}

/** What was spent in a period, and which thresholds are announced, in percent. Amounts are nano-dollars. */
export interface PeriodSpending extends Period {
  readonly limit: bigint;
  readonly spent: bigint;
  readonly announced: readonly number[];
}

/** Calls that were refused in a period under one revision of the budget. */
export interface Refused {
  readonly calls: number;
  readonly since: Date;
  readonly last: Date;
}

/** A threshold, and what must hold for it: the limit, and the least that is spent, in nano-dollars. */
export interface Reached {
  readonly threshold: number;
  readonly limit: bigint;
  readonly least: bigint;
}

/** A change of a slice, and of its period. */
export interface SliceChange {
  /** `seq` that the slice must have; undefined if there must be none. */
  readonly from: number | undefined;
  /** `seq` that it gets; undefined if it is removed. */
  readonly to: number | undefined;
  /** What is added to each. */
  readonly amount: number;
  readonly settled: number;
  readonly taken: number;
  readonly spent: number;
  /** What must hold in addition: nothing may be taken beyond the limit. */
  readonly within?: { readonly revision: number; readonly taken: number };
}

/** The periods of all budgets in the database. Every method can throw `database-unavailable`. */
export interface PeriodStore {
  /** Creates the period, or changes its limit if it has an older one. */
  ensure(terms: PeriodTerms): Promise<void>;
  find(id: string): Promise<Account | undefined>;
  findAll(ids: readonly string[]): Promise<ReadonlyMap<string, Account>>;
  /**
   * Changes a slice if it has this `seq`. What would be beyond `mostOfBudget` is not added to `spent` and `taken`.
   * @returns whether it is changed
   * @throws {ProblemError} database-unavailable: it may be changed, or may be later
   */
  change(id: string, journal: string, change: SliceChange): Promise<boolean>;
  /** The slices of a journal, by period. */
  slicesOf(journal: string): Promise<Map<string, Slice>>;
  /** The journals that have slices. */
  holders(): Promise<Set<string>>;
  spending(ids: readonly string[]): Promise<PeriodSpending[]>;
  /** Adds an event to the outbox of the period, unless the threshold is announced. A repetition changes nothing. */
  announce(id: string, reached: Reached, event: OutboxEntry): Promise<void>;
  /**
   * Notes how many calls a process has refused under this revision in all, with the event if they are the first of the
   * period. A repetition changes nothing.
   */
  refuse(terms: PeriodTerms, reporter: string, refused: Refused, event: OutboxEntry): Promise<void>;
  /** A period without end is kept for as long as others. */
  expire(id: string, at: Date): Promise<void>;
}

/** Amounts are int64. There is no outbox before an event is announced. */
interface PeriodDocument extends Partial<WithOutbox> {
  _id: string;
  budget: string;
  budget_id: string;
  since: Date;
  resets_at?: Date;
  limit: StoredMoney;
  revision: number;
  taken: StoredMoney;
  spent: StoredMoney;
  by: Record<string, { seq: number; amount: StoredMoney; settled: StoredMoney }>;
  /** The members of `by`, for an index. */
  holders: string[];
  /** Thresholds, in percent. Absent if none are. */
  announced?: number[];
  /** By the revision of the budget and the process, `<revision>-<process>`. Absent if none were. */
  refused?: Record<string, Refused>;
  expires_at?: Date;
}

const collectionName: OutboxCollection = 'budget_periods';
const keptMs = 400 * 24 * 3_600_000;

export const periodIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { holders: 1 }, name: 'holders_1', partialFilterExpression: { holders: { $gt: '' } } },
    outboxIndex,
    expiryIndex,
  ],
};

export function createPeriodStore({ db }: PagedDatabase): PeriodStore {
  const periods: Collection<PeriodDocument> = db.collection(collectionName);
  const findAll = async (ids: readonly string[]): Promise<Map<string, Account>> => {
    const found = await read(() => periods.find({ _id: { $in: [...ids] } }).toArray());
    return new Map(found.map((document) => [document._id, toAccount(document)]));
  };

  const changeOnce = (id: string, journal: string, change: SliceChange): Promise<boolean> => {
    const { from, to, amount, settled, taken, spent, within } = change;
    const filter = {
      _id: id,
      [`by.${journal}.seq`]: from ?? { $exists: false },
      ...(spent > 0 && { spent: { $lte: BigInt(mostOfBudget - spent) } }),
      ...(within && { revision: within.revision, taken: { $lte: BigInt(within.taken) } }),
    } as unknown as Filter<PeriodDocument>;
    const totals = { taken: BigInt(taken), spent: BigInt(spent) };
    const at = `by.${journal}`;
    const update =
      to === undefined
        ? { $inc: totals, $unset: { [at]: true }, $pull: { holders: journal } }
        : {
            $inc: { ...totals, [`${at}.amount`]: BigInt(amount), [`${at}.settled`]: BigInt(settled) },
            $set: { [`${at}.seq`]: to },
            ...(from === undefined && { $addToSet: { holders: journal } }),
          };
    // Once: whoever calls must know whether an earlier attempt can still be applied.
    return withRetry(
      async () =>
        (await periods.updateOne(filter, update as unknown as UpdateFilter<PeriodDocument>)).matchedCount === 1,
      { attempts: 1 },
    );
  };

  return {
    async ensure({ id, budget, budgetId, since, resetsAt, limit, revision }) {
      const created: PeriodDocument = {
        _id: id,
        budget,
        budget_id: budgetId,
        since,
        ...(resetsAt && { resets_at: resetsAt, expires_at: new Date(resetsAt.getTime() + keptMs) }),
        limit: BigInt(limit),
        revision,
        taken: 0n,
        spent: 0n,
        by: {},
        holders: [],
      };
      if ((await upsertOnce(periods, created)).outcome === 'duplicate') throw new Error('a period cannot be created');
      const newer = { $set: { limit: BigInt(limit), revision } };
      await writeIdempotently(() => periods.updateOne({ _id: id, revision: { $lt: revision } }, newer));
    },
    async find(id) {
      return (await findAll([id])).get(id);
    },
    findAll,
    async change(id, journal, change) {
      for (let { spent, taken } = change; ;) {
        if (await changeOnce(id, journal, { ...change, spent, taken })) return true;
        if (spent <= 0) return false;
        const account = (await findAll([id])).get(id);
        const beyond = (account?.spent ?? 0) + spent - mostOfBudget;
        if (beyond <= 0 || account?.slices.get(journal)?.seq !== change.from) return false;
        const added = Math.max(0, spent - beyond);
        taken -= spent - added;
        spent = added;
      }
    },
    async slicesOf(journal) {
      const projection = { [`by.${journal}`]: 1 };
      const found = await read(() => periods.find({ holders: journal }, { projection }).toArray());
      return new Map(found.flatMap(({ _id, by }) => [...slicesIn(by).values()].map((slice) => [_id, slice] as const)));
    },
    async holders() {
      const found = await read(() => periods.find({ holders: { $gt: '' } }, { projection: { holders: 1 } }).toArray());
      return new Set(found.flatMap(({ holders }) => holders));
    },
    async spending(ids) {
      const shown = { since: 1, resets_at: 1, limit: 1, spent: 1, announced: 1 } as const;
      const found = await read(() => periods.find({ _id: { $in: [...ids] } }, { projection: shown }).toArray());
      return found.map(({ _id: id, since, resets_at: resetsAt, limit, spent, announced = [] }) => {
        return { id, since, resetsAt, limit: fromStored(limit), spent: fromStored(spent), announced };
      });
    },
    async announce(id, { threshold, limit, least }, event) {
      const filter = { _id: id, limit, spent: { $gte: least }, announced: { $ne: threshold } };
      const change = { $push: { announced: threshold, ...pushEvents([event]) } };
      await writeIdempotently(() =>
        periods.updateOne(filter as unknown as Filter<PeriodDocument>, change as UpdateFilter<PeriodDocument>),
      );
    },
    async refuse({ id, revision }, reporter, { calls, since, last }, event) {
      const by = `${revision}-${reporter}`;
      const first = { _id: id, refused: { $exists: false } };
      const begun = { $set: { refused: { [by]: { calls, since, last } } }, $push: pushEvents([event]) };
      const { matchedCount } = await writeIdempotently(() =>
        periods.updateOne(first as Filter<PeriodDocument>, begun as UpdateFilter<PeriodDocument>),
      );
      if (matchedCount === 1) return;
      const more = {
        $min: { [`refused.${by}.since`]: since },
        $max: { [`refused.${by}.last`]: last, [`refused.${by}.calls`]: calls },
      };
      await writeIdempotently(() => periods.updateOne({ _id: id }, more as UpdateFilter<PeriodDocument>));
    },
    async expire(id, at) {
      const $set = { expires_at: new Date(at.getTime() + keptMs) };
      await writeIdempotently(() => periods.updateOne({ _id: id }, { $set }));
    },
  };
}

function toAccount({ limit, revision, taken, spent, by, refused }: PeriodDocument): Account {
  return {
    limit: toNumber(limit),
    revision,
    taken: toNumber(taken),
    spent: toNumber(spent),
    slices: slicesIn(by),
    refused: refusedUnder(revision, refused),
  };
}

/** What all processes have refused since the budget was set last. */
function refusedUnder(revision: number, refused: PeriodDocument['refused'] = {}): Refused | undefined {
  const all = Object.entries(refused).flatMap(([by, one]) => (by.startsWith(`${revision}-`) ? [one] : []));
  if (all.length === 0) return undefined;
  return {
    calls: all.reduce((sum, { calls }) => sum + calls, 0),
    since: new Date(Math.min(...all.map(({ since }) => since.getTime()))),
    last: new Date(Math.max(...all.map(({ last }) => last.getTime()))),
  };
}

function slicesIn(by: PeriodDocument['by']): Map<string, Slice> {
  return new Map(
    Object.entries(by).map(([journal, { seq, amount, settled }]) => [
      journal,
      { seq, amount: toNumber(amount), settled: toNumber(settled) },
    ]),
  );
}

function toNumber(stored: StoredMoney): number {
  return Number(fromStored(stored));
}
