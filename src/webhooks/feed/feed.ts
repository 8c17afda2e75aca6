import { setTimeout as sleep } from 'node:timers/promises';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { createFairQueue } from '../../base/limits/fair-queue.ts';
import { mayReachLocations, mayReachPrompt, type Reach } from '../../base/limits/reach.ts';
import type { EventStore, FeedEntry } from '../events/event-store.ts';
import type { WebhookLog } from '../observer.ts';
import { createBlockStore, type Block, type BlockStore } from './block-store.ts';
import { writeCursor, type FeedPosition } from './cursor.ts';
import { createTail, type Tail } from './tail.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';

/** Which events of the feed are read. */
export interface FeedFilter {
  readonly types: ReadonlySet<string> | undefined;
  readonly locationId: string | undefined;
  readonly targetId: string | undefined;
  /** Of the caller. */
  readonly reach: Reach | undefined;
}

/** An event of the feed, and the position after it. */
export interface PlacedEvent {
  readonly position: FeedPosition;
  /** The bytes that integrations receive. */
  readonly body: Uint8Array;
}

export interface FeedPage {
  readonly events: readonly PlacedEvent[];
  readonly next: FeedPosition;
  /** Whether the feed may have further events already. */
  readonly more: boolean;
}

/** Reads the feed. */
export interface Feed {
  /** The position of its end, or before the oldest event. */
  start(at: 'now' | 'oldest'): Promise<FeedPosition>;
  /** @throws {ProblemError} cursor-expired, cursor-unknown */
  page(filter: FeedFilter, from: FeedPosition, limit: number): Promise<FeedPage>;
  /**
   * All that follows a position, as it comes; the position alone after some time without events. It ends only with the
   * signal.
   * @param family of the caller's keys: those that catch up take turns, because each reads as fast as it can
   * @throws {ProblemError} cursor-expired, cursor-unknown
   */
  follow(
    filter: FeedFilter,
    from: FeedPosition,
    family: string,
    signal: AbortSignal,
  ): AsyncIterable<PlacedEvent | FeedPosition>;
}

/** The most blocks that a page looks at. Often the first ones have enough events. */
const blocksOfPage = 20;
const blocksAtFirst = 2;
/** The most bytes of the events of a page, and of what a stream reads at once, if it is more than one event. */
const bytesOfPage = 4 * 1024 * 1024;
const bytesAtOnce = 64 * 1024;
const eventsAtOnce = 20;
/** Milliseconds before a stream that searches reads on. */
const searchPauseMs = 10;
/** Milliseconds after which a stream without events says how far it is. */
const positionMs = 10_000;

interface Found {
  readonly entry: FeedEntry;
  readonly block: Block;
  readonly position: FeedPosition;
}

/** How a page is read. */
interface Reads {
  readonly readBlocks: ReadBlocks;
  readonly readBodies: ReadBodies;
  readonly mostBytes: number;
}

type ReadBlocks = (from: number, most: number) => readonly Block[] | Promise<readonly Block[]>;
type ReadBodies = (found: readonly Found[]) => Promise<ReadonlyMap<string, Uint8Array>>;

export interface FeedParts {
  readonly feed: Feed;
  readonly blocks: BlockStore;
  readonly tail: Tail;
}

export function createFeed(database: PagedDatabase, events: Pick<EventStore, 'bodies'>, log: WebhookLog): FeedParts {
  const blocks = createBlockStore(database);
  const tail = createTail({ events, blocks, log });
  const catchingUp = createFairQueue({ places: database.pages.listsAtOnce });
  const stored: ReadBlocks = (from, most) => blocks.read(from, most);
  const bodiesOf: ReadBodies = (found) => events.bodies(found.map(({ entry }) => entry.id));
  /** Of blocks that the tail has, all bodies are read once for all streams. */
  const sharedBodies = async (found: readonly Found[]): Promise<ReadonlyMap<string, Uint8Array>> => {
    const maps = await Promise.all([...new Set(found.map(({ block }) => block))].map((block) => tail.bodies(block)));
    return new Map(maps.flatMap((map) => [...map]));
  };

  const oldest = async (): Promise<FeedPosition> => ({ block: await blocks.first(), index: 0, id: '' });

  const readPage = async (
    filter: FeedFilter,
    from: FeedPosition,
    limit: number,
    { readBlocks, readBodies, mostBytes }: Reads,
  ): Promise<FeedPage> => {
    const read = [...(await readBlocks(from.block, blocksAtFirst))];
    const [own] = read;
    if (own === undefined) {
      const first = await oldest();
      if (from.block < first.block) throw expired(first);
      // Nothing has been added since the feed was empty.
      if (from.block === first.block && from.index === 0) return { events: [], next: from, more: false };
      throw unknown(first);
    }
    if (from.index > 0 && own.entries[from.index - 1]?.id !== from.id) throw unknown(await oldest());

    const found: Found[] = [];
    let next = from;
    let more = false;
    search: for (const block of read) {
      for (const [index, entry] of block.entries.entries()) {
        if (block === own && index < from.index) continue;
        if (found.length === limit) {
          more = true;
          break search;
        }
        next = { block: block.number, index: index + 1, id: entry.id };
        if (matches(filter, entry)) found.push({ entry, block, position: next });
      }
      if (block === read[blocksAtFirst - 1]) {
        read.push(...(await readBlocks(block.number + 1, blocksOfPage - blocksAtFirst)));
      }
    }
    more ||= read.length === blocksOfPage;

    const page: PlacedEvent[] = [];
    let bytes = 0;
    let last = from;
    for (let start = 0; start < found.length; start += eventsAtOnce) {
      const some = found.slice(start, start + eventsAtOnce);
      const bodies = await readBodies(some);
      for (const { entry, position } of some) {
        const body = bodies.get(entry.id);
        // Of the newest block, which is kept, the events can be gone. Whoever begins at the oldest does not miss them.
        if (body === undefined && from.index > 0) {
          if (page.length > 0) return { events: page, next: last, more: true };
          throw expired(position);
        }
        if (body !== undefined) {
          bytes += body.length;
          if (bytes > mostBytes && page.length > 0) return { events: page, next: last, more: true };
          page.push({ position, body });
        }
        last = position;
      }
    }
    return { events: page, next, more };
  };

  const readInTurn = async (
    filter: FeedFilter,
    from: FeedPosition,
    family: string,
    signal: AbortSignal,
  ): Promise<FeedPage> => {
    const leave = await catchingUp.enter({ key: family, signal });
    try {
      return await readPage(filter, from, eventsAtOnce, {
        ...{ readBlocks: stored, readBodies: bodiesOf, mostBytes: bytesAtOnce },
      });
    } finally {
      leave();
    }
  };

  return {
    blocks,
    tail,
    feed: {
      async start(at) {
        const newest = at === 'now' ? await blocks.newest(undefined) : undefined;
        const last = newest?.entries.at(-1);
        if (newest === undefined || last === undefined) return oldest();
        return { block: newest.number, index: newest.entries.length, id: last.id };
      },
      page: (filter, from, limit) =>
        readPage(filter, from, limit, { readBlocks: stored, readBodies: bodiesOf, mostBytes: bytesOfPage }),
      async *follow(filter, from, family, signal) {
        let at = from;
        let told = -Infinity;
        for (;;) {
          signal.throwIfAborted();
          const kept = tail.read(at.block);
          const page =
            kept === undefined
              ? await readInTurn(filter, at, family, signal)
              : await readPage(filter, at, eventsAtOnce, {
                  readBlocks: (first, most) => kept.filter(({ number }) => number >= first).slice(0, most),
                  ...{ readBodies: sharedBodies, mostBytes: bytesAtOnce },
                });
          for (const event of page.events) yield event;
          at = page.next;
          if (page.events.length > 0) {
            told = performance.now();
          } else if (performance.now() - told > positionMs) {
            yield at;
            told = performance.now();
          }
          if (page.more && page.events.length === 0) await sleep(searchPauseMs);
          if (!page.more) await tail.changed(at.index === 0 ? at.block - 1 : at.block, signal);
        }
      },
    },
  };
}

function matches({ types, locationId, targetId, reach }: FeedFilter, entry: FeedEntry): boolean {
  return (
    types?.has(entry.type) !== false &&
    (locationId === undefined || entry.locationId === locationId) &&
    (targetId === undefined || entry.targetId === targetId) &&
    mayReachLocations(reach, entry.locationId === undefined ? undefined : [entry.locationId]) &&
    // What has no location is about prompts, or about what such a key cannot read: budgets and integrations.
    (entry.locationId !== undefined || mayReachPrompt(reach, entry.targetId))
  );
}

function expired(first: FeedPosition): ProblemError {
  return new ProblemError('cursor-expired', {
    detail: 'Events after this cursor are no longer kept.',
    extensions: { first_cursor: writeCursor(first) },
  });
}

function unknown(first: FeedPosition): ProblemError {
  return new ProblemError('cursor-unknown', {
    detail: 'The feed has another event at this place, as after a restore of an older database.',
    extensions: { first_cursor: writeCursor(first) },
  });
}
