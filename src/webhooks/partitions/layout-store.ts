import type { Collection, Filter, UpdateFilter } from 'mongodb';
import type { Database } from '../../storage/db/client.ts';
import { read, upsertOnce, writeIdempotently } from '../../storage/db/writes.ts';
import { partitionCount } from './partition.ts';

/** A process that holds partitions or wants some. */
export interface Member {
  /** Incremented while it lives. */
  readonly beat: number;
  /** The fencing token of what it sends; no two members have the same one. */
  readonly token: number;
}

/** Which process holds which partition. */
export interface Layout {
  /** Incremented by each change but beats and calls. */
  readonly version: number;
  /** The largest token so far. */
  readonly token: number;
  readonly members: ReadonlyMap<string, Member>;
  /** The member that holds each partition; undefined if it is free. */
  readonly holders: readonly (string | undefined)[];
  /** For each partition, how often another process asked its holder to look for work. */
  readonly calls: readonly number[];
}

/** A change of the layout. What is left out stays. */
export interface LayoutChange {
  /** A member that holds nothing afterwards. It is only removed if it still has this beat. */
  readonly removed?: { readonly member: string; readonly beat?: number };
  /** A member that gets the next token. */
  readonly raised?: string;
  readonly holders?: readonly (string | undefined)[];
}

export interface LayoutStore {
  /** Creates the layout if there is none. */
  read(): Promise<Layout>;
  /** Adds a member under an id that was never used. */
  join(member: string): Promise<void>;
  /** Shows that a member lives. @returns false if it was removed */
  beat(member: string): Promise<boolean>;
  /** @returns false if the layout has changed since it was seen, or if an answer was lost: read it again */
  change(seen: Layout, change: LayoutChange): Promise<boolean>;
  /** Asks the holder of a partition to look for work. */
  call(partition: number): Promise<void>;
}

interface LayoutDocument {
  _id: string;
  version: number;
  token: number;
  members: Record<string, Member>;
  /** Empty for a free partition. */
  holders: string[];
  calls: Record<string, number>;
}

const documentId = 'layout';
/** Above all tokens of the leases by integration that came before partitions. */
const firstToken = 2 ** 32;
/** Milliseconds for a beat, which is not repeated. */
const beatMs = 2_000;

export function createLayoutStore(database: Database): LayoutStore {
  const layouts: Collection<LayoutDocument> = database.db.collection('layout');
  const find = (): Promise<LayoutDocument | null> => read(() => layouts.findOne({ _id: documentId }));

  return {
    async read() {
      let document = await find();
      if (document === null) {
        await upsertOnce(layouts, {
          _id: documentId,
          version: 1,
          token: firstToken,
          members: {},
          holders: Array.from({ length: partitionCount }, () => ''),
          calls: {},
        });
        document = await find();
      }
      if (document === null) throw new Error('The layout of partitions is gone.');
      return fromDocument(document);
    },
    async join(member) {
      const absent = { _id: documentId, [`members.${member}`]: { $exists: false } } as Filter<LayoutDocument>;
      const change = { $set: { [`members.${member}`]: { beat: 1, token: 0 } }, $inc: { version: 1 } };
      await writeIdempotently(() => layouts.updateOne(absent, change as unknown as UpdateFilter<LayoutDocument>));
    },
    async beat(member) {
      const own = { _id: documentId, [`members.${member}`]: { $exists: true } } as Filter<LayoutDocument>;
      const change = { $inc: { [`members.${member}.beat`]: 1 } } as unknown as UpdateFilter<LayoutDocument>;
      const { matchedCount } = await writeIdempotently(() => layouts.updateOne(own, change), {
        attempts: 1,
        budgetMs: beatMs,
      });
      return matchedCount === 1;
    },
    async change({ version, token }, { removed, raised, holders }) {
      const filter = {
        _id: documentId,
        version,
        ...(removed?.beat === undefined ? {} : { [`members.${removed.member}.beat`]: removed.beat }),
      } as Filter<LayoutDocument>;
      const set = {
        version: version + 1,
        ...(raised === undefined ? {} : { token: token + 1, [`members.${raised}.token`]: token + 1 }),
        ...(holders === undefined ? {} : { holders: holders.map((holder) => holder ?? '') }),
      };
      const change = {
        $set: set,
        ...(removed === undefined ? {} : { $unset: { [`members.${removed.member}`]: '' } }),
      } as unknown as UpdateFilter<LayoutDocument>;
      const { matchedCount } = await writeIdempotently(() => layouts.updateOne(filter, change));
      return matchedCount === 1;
    },
    async call(partition) {
      const change = { $inc: { [`calls.${partition}`]: 1 } } as unknown as UpdateFilter<LayoutDocument>;
      await writeIdempotently(() => layouts.updateOne({ _id: documentId }, change));
    },
  };
}

function fromDocument({ version, token, members, holders, calls }: LayoutDocument): Layout {
  return {
    version,
    token,
    members: new Map(Object.entries(members)),
    holders: holders.map((holder) => (holder === '' ? undefined : holder)),
    calls: holders.map((_, partition) => calls[String(partition)] ?? 0),
  };
}
