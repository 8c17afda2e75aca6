import type { Collection } from 'mongodb';
import { isDuplicateKey } from '../db/database-errors.ts';
import type { PagedDatabase } from '../db/pages.ts';
import { withRetry } from '../db/retry.ts';
import { read, writeIdempotently } from '../db/writes.ts';
import type { InvocationDocument } from './invocation.ts';

/**
 * Whether entries are in a journal. `lost`: they are not, and it takes no more. `uncertain`: it is closed, and may have
 * them.
 */
export type PutOutcome = 'written' | 'lost' | 'uncertain';

type Entry = readonly [id: string, entry: InvocationDocument];

/** A change of a journal: entries to set, and ids of those to remove. */
export interface JournalWrite {
  readonly set: readonly Entry[];
  readonly ended: readonly string[];
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
  create(id: string, entries: readonly Entry[]): Promise<'written'>;
  /**
   * Changes a journal that is open and has this `seq`, which becomes one more.
   * @param isRepeated whether the outcome of an earlier call is unknown
   */
  write(id: string, seq: number, write: JournalWrite, isRepeated: boolean): Promise<PutOutcome>;
  list(): Promise<SeenJournal[]>;
  /** Closes a journal that still has this `seq`, for ever. @returns its entries; undefined if it has not this `seq` */
  close(journal: SeenJournal): Promise<InvocationDocument[] | undefined>;
  /** Removes a journal that still has this `seq`. */
  remove(id: string, seq: number): Promise<void>;
  /** The ids of all entries of all journals. */
  entryIds(): Promise<string[]>;
}

interface JournalDocument {
  _id: string;
  /** Number of the writes by its process. */
  seq: number;
  state: 'open' | 'closed';
  open: Record<string, InvocationDocument>;
}

export function createJournalStore({ db }: PagedDatabase): JournalStore {
  const journals: Collection<JournalDocument> = db.collection('journals');
  return {
    create(id, entries) {
      return withRetry(async () => {
        try {
          await journals.insertOne({ _id: id, seq: 0, state: 'open', open: Object.fromEntries(entries) });
        } catch (error) {
          // The id is new, so the document is that of an earlier attempt.
          if (!isDuplicateKey(error)) throw error;
        }
        return 'written' as const;
      });
    },
    write(id, seq, { set, ended }, isRepeated) {
      const filter = { _id: id, seq, state: 'open' } as const;
      const update = {
        $inc: { seq: 1 },
        ...(set.length > 0 && { $set: Object.fromEntries(set.map(([key, entry]) => [`open.${key}`, entry])) }),
        ...(ended.length > 0 && { $unset: Object.fromEntries(ended.map((key) => [`open.${key}`, true as const])) }),
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
      return found?.state === 'closed' ? Object.values(found.open) : undefined;
    },
    async remove(id, seq) {
      await writeIdempotently(() => journals.deleteOne({ _id: id, seq }));
    },
    async entryIds() {
      const found = await read(() => journals.find({}).toArray());
      return found.flatMap(({ open }) => Object.keys(open));
    },
  };
}
