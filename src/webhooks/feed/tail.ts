import { createBatcher } from '../batcher.ts';
import type { EventStore } from '../events/event-store.ts';
import type { WebhookLog } from '../observer.ts';
import { repeat, type Repetition } from '../repeat.ts';
import { isSameBlock, type Block, type BlockStore } from './block-store.ts';

/** The end of the feed, read once for all streams of this process. */
export interface Tail {
  /** The blocks from a number on, if the tail has them. */
  read(from: number): readonly Block[] | undefined;
  /** The bytes of the events of a block of the tail. */
  bodies(block: Block): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Waits until the newest block has a larger number than this, or there is another feed. */
  changed(number: number, signal: AbortSignal): Promise<void>;
  /** The feed may have grown. */
  nudge(): void;
  stop(): Promise<void>;
}

export interface TailDependencies {
  readonly events: Pick<EventStore, 'bodies'>;
  readonly blocks: Pick<BlockStore, 'read' | 'newest'>;
  readonly log: WebhookLog;
}

/** Milliseconds between two looks for blocks of other processes. */
const pollMs = 500;
/** Events that the tail holds, if they are more than one block. */
const eventsKept = 500;
const blocksAtOnce = 20;
const idleLooksMost = 10;

export function createTail({ events, blocks, log }: TailDependencies): Tail {
  /** Consecutive blocks up to the newest; empty if nobody waits. */
  let newest: Block[] = [];
  let bodies = new Map<Block, Promise<ReadonlyMap<string, Uint8Array>>>();
  const waiting = new Map<() => void, number>();
  let polling: Repetition | undefined;
  let isStopped = false;

  const wake = (isAwaited: (number: number) => boolean): void => {
    for (const [resolve, number] of [...waiting]) if (isAwaited(number)) resolve();
  };

  const keep = (found: readonly Block[]): void => {
    let count = 0;
    const start = found.findLastIndex(({ entries }) => (count += entries.length) > eventsKept);
    newest = found.slice(Math.max(0, Math.min(start + 1, found.length - 1)));
    bodies = new Map([...bodies].filter(([block]) => newest.includes(block)));
  };

  const look = async (): Promise<void> => {
    const last = newest.at(-1);
    let found = last === undefined ? [] : await blocks.read(last.number, blocksAtOnce);
    const [same] = found;
    if (last === undefined || same === undefined || !isSameBlock(last, same)) {
      // Only after a restore of the database is the newest block another one.
      const isOther = last !== undefined;
      const block = await blocks.newest(undefined);
      found = block === undefined ? [] : [block];
      keep(found);
      wake((number) => isOther || number !== (block?.number ?? 0));
      return;
    }
    if (found.length === 1) {
      // Only after a restore does a reader know a later one.
      wake((number) => number > last.number);
      return;
    }
    keep([...newest, ...found.slice(1)]);
    const number = newest.at(-1)?.number ?? 0;
    wake((awaited) => awaited !== number);
  };

  /** Looks since somebody waited. */
  let idleLooks = 0;
  const looking = createBatcher<undefined>(async () => {
    idleLooks = waiting.size > 0 ? 0 : idleLooks + 1;
    if (idleLooks > idleLooksMost) rest();
    try {
      if (waiting.size > 0) await look();
    } catch (error) {
      log.warn({ error }, 'the end of the feed could not be read; retrying');
    }
  }, Infinity);

  return {
    read(from) {
      const [first] = newest;
      const start = from - (first?.number ?? Infinity);
      return start >= 0 && start < newest.length ? newest.slice(start) : undefined;
    },
    bodies(block) {
      const held = bodies.get(block);
      if (held !== undefined) return held;
      const found = events.bodies(block.entries.map(({ id }) => id));
      bodies.set(block, found);
      found.catch(() => bodies.delete(block));
      return found;
    },
    async changed(number, signal) {
      signal.throwIfAborted();
      const last = newest.at(-1);
      if (last !== undefined && last.number > number) return;
      const { promise, resolve } = Promise.withResolvers<undefined>();
      const end = (): void => {
        resolve(undefined);
      };
      waiting.set(end, number);
      signal.addEventListener('abort', end, { once: true });
      if (polling === undefined && !isStopped) {
        polling = repeat(
          () => looking.add(undefined),
          () => pollMs,
          () => undefined,
          0,
        );
      }
      await promise;
      signal.removeEventListener('abort', end);
      waiting.delete(end);
      signal.throwIfAborted();
    },
    nudge() {
      if (waiting.size > 0) void looking.add(undefined);
    },
    async stop() {
      isStopped = true;
      rest();
      await looking.idle();
    },
  };

  /** Without readers nothing is read and kept. */
  function rest(): void {
    void polling?.end();
    polling = undefined;
    keep([]);
  }
}
