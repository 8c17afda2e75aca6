import type { Collection } from 'mongodb';
import { insertMissing } from '../../storage/db/bulk-writes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import { read, writeIdempotently } from '../../storage/db/writes.ts';
import type { FeedEntry } from '../events/event-store.ts';
import type { EventType } from '../events/event.ts';

/**
 * A piece of the feed, which never changes. The blocks have consecutive numbers from 1. The oldest are removed, the
 * newest never is.
 */
export interface Block {
  readonly number: number;
  readonly createdAt: Date;
  /** At least one. */
  readonly entries: readonly FeedEntry[];
}

export interface BlockStore {
  /** The blocks from a number on, up to the first that does not exist. */
  read(from: number, most: number): Promise<Block[]>;
  /** @param known a block that was the newest once, to search from. It need not exist any more */
  newest(known: Block | undefined): Promise<Block | undefined>;
  /** @returns false if there is a block of this number, which can be this one, if an answer was lost */
  insert(block: Block): Promise<boolean>;
  /** The number of the oldest block that is kept, or will be the first one. */
  first(): Promise<number>;
  /** Removes the blocks before a number. The newest must not be among them. */
  removeBefore(number: number): Promise<void>;
}

interface BlockDocument {
  /** The number, as text. */
  _id: string;
  created_at: Date;
  entries: { id: string; type: EventType; target_id: string; location_id?: string }[];
}

/** Which blocks are kept. */
interface KeptDocument {
  _id: string;
  from: number;
}

const collectionName = 'feed_blocks';
const keptId = 'kept';
const removedAtOnce = 100;
const searchedAtOnce = 20;

export function createBlockStore(database: PagedDatabase): BlockStore {
  const collection: Collection<BlockDocument> = database.db.collection(collectionName);
  const keptCollection: Collection<KeptDocument> = database.db.collection(collectionName);

  const readBlocks: BlockStore['read'] = async (from, most) => {
    const ids = Array.from({ length: most }, (_, index) => String(from + index));
    const found: Block[] = [];
    for await (const [, document] of database.pages.fetch(collection, ids)) {
      if (document === undefined) break;
      found.push(fromDocument(document));
    }
    return found;
  };
  const exists = async (number: number): Promise<boolean> =>
    (await database.pages.existing(collection, [String(number)])).size > 0;
  const first = async (): Promise<number> => (await read(() => keptCollection.findOne({ _id: keptId })))?.from ?? 1;

  /** The number of the newest block, found in few steps because the numbers are consecutive. */
  const lastNumber = async (): Promise<number> => {
    for (let from = await first(); ;) {
      let last = from - 1;
      let step = 1;
      for (; await exists(last + step); step *= 2) last += step;
      for (step /= 2; step >= 1; step /= 2) if (await exists(last + step)) last += step;
      const next = await first();
      // Blocks may have been removed during the search.
      if (next === from) return last;
      from = next;
    }
  };

  return {
    read: readBlocks,
    first,
    async newest(known) {
      let found = known === undefined ? [] : await readBlocks(known.number, searchedAtOnce);
      if (found.length === 0) found = await readBlocks(await lastNumber(), searchedAtOnce);
      for (let last = found.at(-1); last !== undefined && found.length === searchedAtOnce; last = found.at(-1)) {
        found = await readBlocks(last.number, searchedAtOnce);
      }
      return found.at(-1);
    },
    async insert({ number, createdAt, entries }) {
      const document: BlockDocument = {
        _id: String(number),
        created_at: createdAt,
        entries: entries.map(({ id, type, targetId, locationId }) => ({
          id,
          type,
          target_id: targetId,
          ...(locationId === undefined ? {} : { location_id: locationId }),
        })),
      };
      return (await insertMissing(collection, [document])).length === 0;
    },
    async removeBefore(number) {
      const from = await first();
      await writeIdempotently(() =>
        keptCollection.updateOne({ _id: keptId }, { $max: { from: number } }, { upsert: true }),
      );
      // An interrupted removal may have left some before these.
      for (let next = Math.max(1, from - removedAtOnce); next < number; next += removedAtOnce) {
        const length = Math.min(removedAtOnce, number - next);
        const ids = Array.from({ length }, (_, index) => String(next + index));
        await writeIdempotently(() => collection.deleteMany({ _id: { $in: ids } }));
      }
    },
  };
}

/** Whether two are the same block of the same feed. */
export function isSameBlock(one: Block, other: Block): boolean {
  return one.number === other.number && one.entries[0]?.id === other.entries[0]?.id;
}

function fromDocument({ _id, created_at, entries }: BlockDocument): Block {
  return {
    number: Number(_id),
    createdAt: created_at,
    entries: entries.map(({ id, type, target_id, location_id }) => ({
      id,
      type,
      targetId: target_id,
      locationId: location_id,
    })),
  };
}
