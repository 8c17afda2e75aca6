import { setTimeout as sleep } from 'node:timers/promises';
import { retryLostRaces } from '../../base/editing/lost-races.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { createBatcher } from '../batcher.ts';
import type { EventStore } from '../events/event-store.ts';
import type { WebhookLog } from '../observer.ts';
import { repeat, type Repetition } from '../repeat.ts';
import type { WebhookTiming } from '../timing.ts';
import { isSameBlock, type Block, type BlockStore } from './block-store.ts';

export interface SequencerDependencies {
  readonly events: Pick<EventStore, 'unplaced' | 'placed'>;
  readonly blocks: BlockStore;
  readonly timing: Pick<WebhookTiming, 'poll' | 'retention'>;
  readonly clock: Clock;
  readonly log: WebhookLog;
  /** Called when the feed has a new block. */
  readonly onBlock: () => void;
}

/** Gives stored events their place in the feed. */
export interface Sequencer {
  /** Events were stored. */
  nudge(): void;
  start(): void;
  stop(): Promise<void>;
  /** Removes what is no longer kept. */
  removeOld(): Promise<void>;
}

/** Events of one block at most. */
const eventsOfBlock = 500;
/** Milliseconds between two blocks, so that blocks grow under load. */
const pauseMs = 250;
/** So much earlier than their events blocks are removed, so that a reader never finds a block without its events. */
const marginMs = 3_600_000;
const removedAtOnce = 100;
/** The pause between two polls lasts so many times as long as one. */
const pollFactor = 10;

/**
 * Any number of processes can do this at the same time, and each can die at any point. Each event is in one block:
 *
 * 1. An event is stored with the mark `unplaced`, which is removed after its block was inserted.
 * 2. Whoever inserts block n + 1 has first removed the marks of block n, and only then read which events have a mark.
 *    So these are in no block up to n.
 * 3. Only one block n + 1 can be inserted. Who is second begins again.
 */
export function createSequencer(dependencies: SequencerDependencies): Sequencer {
  const { events, blocks, timing, clock, log, onBlock } = dependencies;
  let stopped = false;
  let known: Block | undefined;
  /** The block whose events have no marks any more. */
  let settled: Block | undefined;

  const settle = async (block: Block): Promise<void> => {
    if (settled !== undefined && isSameBlock(settled, block)) return;
    await events.placed(block.entries.map(({ id }) => id));
    settled = block;
  };

  /** @returns how many events it has placed; undefined if another process was first */
  const placeSome = async (): Promise<number | undefined> => {
    if (stopped) return 0;
    known = await blocks.newest(known);
    if (known !== undefined) await settle(known);
    const entries = await events.unplaced(eventsOfBlock);
    if (entries.length === 0) return 0;
    const block = { number: (known?.number ?? 0) + 1, createdAt: clock.now(), entries };
    if (!(await blocks.insert(block))) return undefined;
    onBlock();
    known = block;
    await settle(block);
    return entries.length;
  };

  const place = async (): Promise<void> => {
    let placed = eventsOfBlock;
    while (placed === eventsOfBlock) placed = await retryLostRaces(placeSome);
  };

  const placing = createBatcher<undefined>(async () => {
    try {
      await place();
    } catch (error) {
      log.warn({ error }, 'events could not be added to the feed; retrying');
    }
    await sleep(pauseMs);
  }, Infinity);

  /** Finds events whose process died. Those that wait since the previous poll are not about to be placed. */
  let waited = false;
  let pollMs = timing.poll;
  const poll = async (): Promise<void> => {
    const began = clock.monotonic();
    const waits = (await events.unplaced(1)).length > 0;
    if (waits && waited) void placing.add(undefined);
    waited = waits;
    // A slow server, or one that builds the index, has time for others.
    pollMs = Math.max(timing.poll, pollFactor * (clock.monotonic() - began));
  };

  let polling: Repetition | undefined;
  return {
    nudge() {
      if (!stopped) void placing.add(undefined);
    },
    start() {
      polling = repeat(
        poll,
        () => pollMs,
        (error) => {
          log.warn({ error }, 'events for the feed could not be read; retrying');
        },
      );
    },
    async stop() {
      stopped = true;
      await polling?.end();
      await placing.idle();
    },
    async removeOld() {
      const before = new Date(clock.now().getTime() - timing.retention + marginMs);
      for (;;) {
        const oldest = await blocks.read(await blocks.first(), removedAtOnce + 1);
        // The newest block stays, because the numbers go on from it.
        const kept = oldest.find(({ createdAt }, index) => createdAt >= before || index === oldest.length - 1);
        if (kept === undefined || kept === oldest[0]) return;
        await blocks.removeBefore(kept.number);
      }
    },
  };
}
