import type { Collection } from 'mongodb';
import { fromStored, type StoredMoney } from '../../base/runtime/money.ts';
import { isDuplicateKey } from '../../storage/db/database-errors.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import { withRetry } from '../../storage/db/retry.ts';
import { read, writeIdempotently } from '../../storage/db/writes.ts';
import type { InvocationDocument } from './invocation.ts';

/**
 * Whether entries are in a journal. `lost`: they are not, and it takes no more. `uncertain`: it is closed, and may have
 * them.
 */
export type PutOutcome = 'written' | 'lost' | 'uncertain';

/** Entries that are written together. Of an id that is in several batches, the last one counts. */
export interface Batch {
  /** Of this batch in its journal; later ones are greater. */
  readonly number: number;
  readonly entries: readonly InvocationDocument[];
}

/** A change of a journal: a batch to add, unless it is empty, and numbers of those to remove. */
export interface JournalWrite {
  readonly batch: Batch;
  readonly ended: readonly number[];
  /** What the calls cost whose entries are removed, in nano-dollars, by the period of the budget. */
  readonly costs: ReadonlyMap<string, number>;
}

/** What was in a journal that is closed. */
export interface ClosedJournal {
  readonly entries: InvocationDocument[];
  /** The sums of `costs`. */
  readonly settled: ReadonlyMap<string, number>;
}

/** A journal as another process sees it. */
export interface SeenJournal {
  readonly id: string;
  readonly seq: number;
  readonly isClosed: boolean;
}

/** The journals of all processes. Every method can throw `database-unavailable`; the outcome of a write is unknown then. */
export interface JournalStore {
  /** Creates a journal with `seq` 0. */
  create(id: string, batch: Batch): Promise<'written'>;
  /**
   * Changes a journal that is open and has this `seq`, which becomes one more.
   * @param isRepeated whether the outcome of an earlier call is unknown
   */
  write(id: string, seq: number, write: JournalWrite, isRepeated: boolean): Promise<PutOutcome>;
  list(): Promise<SeenJournal[]>;
  /** Closes a journal that still has this `seq`, for ever. @returns undefined if it has not this `seq` */
  close(journal: SeenJournal): Promise<ClosedJournal | undefined>;
  /** Removes a journal that still has this `seq`. */
  remove(id: string, seq: number): Promise<void>;
  /** The ids of all entries of all journals, also of those that have ended while others of their batch have not. */
  entryIds(): Promise<string[]>;
}

interface JournalDocument {
  _id: string;
  /** Number of the writes by its process. */
  seq: number;
  state: 'open' | 'closed';
  /**
   * The entries of each batch as JSON, by its number. As documents of BSON they cost the service and the database twice
   * as much, and nobody asks for their fields.
   */
  open: Record<string, string>;
  /** What calls cost whose entries have been removed, by the period of the budget that paid them. As int64. */
  settled?: Record<string, StoredMoney>;
}

export function createJournalStore({ db }: PagedDatabase): JournalStore {
  const journals: Collection<JournalDocument> = db.collection('journals');
  return {
    create(id, { number, entries }) {
      return withRetry(async () => {
        try {
          const open = entries.length > 0 ? { [number]: textOf(entries) } : {};
          await journals.insertOne({ _id: id, seq: 0, state: 'open', open });
        } catch (error) {
          // The id is new, so the document is that of an earlier attempt.
          if (!isDuplicateKey(error)) throw error;
        }
        return 'written' as const;
      });
    },
    write(id, seq, { batch: { number, entries }, ended, costs }, isRepeated) {
      const filter = { _id: id, seq, state: 'open' } as const;
      const update = {
        $inc: { seq: 1, ...settledBy(costs) },
        ...(entries.length > 0 && { $set: { [`open.${number}`]: textOf(entries) } }),
        ...(ended.length > 0 && { $unset: Object.fromEntries(ended.map((one) => [`open.${one}`, true as const])) }),
      };
      let mayBeApplied = isRepeated;
      return withRetry(async (): Promise<PutOutcome> => {
        const isFirst = !mayBeApplied;
        mayBeApplied = true;
        const { matchedCount } = await journals.updateOne(filter, update);
        if (matchedCount === 1) return 'written';
        if (isFirst) return 'lost';
        const found = await journals.findOne({ _id: id }, { projection: { seq: 1, state: 1 } });
        if (found?.seq === seq) return 'lost';
        return found?.state === 'open' ? 'written' : 'uncertain';
      });
    },
    async list() {
      const found = await read(() => journals.find({}, { projection: { seq: 1, state: 1 } }).toArray());
      return found.map(({ _id: id, seq, state }) => ({ id, seq, isClosed: state === 'closed' }));
    },
    async close({ id, seq }) {
      await writeIdempotently(() =>
        journals.updateOne({ _id: id, seq, state: 'open' }, { $set: { state: 'closed' as const } }),
      );
      const found = await read(() => journals.findOne({ _id: id }));
      if (found?.state !== 'closed') return undefined;
      const settled = Object.entries(found.settled ?? {}).map(
        ([period, cost]) => [period, Number(fromStored(cost))] as const,
      );
      return { entries: entriesOf(found), settled: new Map(settled) };
    },
    async remove(id, seq) {
      await writeIdempotently(() => journals.deleteOne({ _id: id, seq }));
    },
    async entryIds() {
      const found = await read(() => journals.find({}).toArray());
      return found.flatMap((journal) => entriesOf(journal).map(({ _id }) => _id));
    },
  };
}

function settledBy(costs: ReadonlyMap<string, number>): Record<`settled.${string}`, bigint> | undefined {
  if (costs.size === 0) return undefined;
  return Object.fromEntries([...costs].map(([period, cost]) => [`settled.${period}`, BigInt(cost)]));
}

/** With times as milliseconds: as dates they take two thirds of the time that the text takes. */
function textOf(entries: readonly InvocationDocument[]): string {
  const plain = entries.map((entry) => ({
    ...entry,
    created_at: entry.created_at.getTime(),
    attempts: entry.attempts.map((attempt) => ({ ...attempt, started_at: attempt.started_at.getTime() })),
  }));
  return JSON.stringify(plain);
}

function entriesOf({ open }: JournalDocument): InvocationDocument[] {
  const byNumber = Object.entries(open).sort(([one], [other]) => Number(one) - Number(other));
  const all = byNumber.flatMap(([, batch]) => JSON.parse(batch, revive) as InvocationDocument[]);
  return [...new Map(all.map((entry) => [entry._id, entry])).values()];
}

function revive(name: string, value: unknown): unknown {
  return name === 'created_at' || name === 'started_at' ? new Date(value as number) : value;
}
