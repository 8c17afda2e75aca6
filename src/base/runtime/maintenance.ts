import type { Logger } from 'pino';
import type { Random } from './random.ts';
import { within } from './within.ts';

/** Periodic work that any process can do at any time. It can be interrupted: the next run continues. */
export interface Chore {
  readonly name: string;
  readonly everyMs: number;
  /** Whether it first runs immediately, because others wait for its result. */
  readonly isImmediate?: boolean;
  /** Whether it only reads what answers and metrics need, so that a process that changes nothing runs it, too. */
  readonly onlyReads?: true;
  readonly run: () => Promise<void>;
}

/** Chores that run. */
export interface Maintenance {
  /**
   * Starts no more chores. Resolves after running chores have ended, or after this many milliseconds: each can be
   * interrupted
   */
  stop(limitMs: number): Promise<void>;
}

/** Runs chores in parallel. Most start after a random part of their first interval. None overlaps itself. */
export function startMaintenance(chores: readonly Chore[], log: Logger, random: Random): Maintenance {
  let stopped = false;
  const timers = new Map<string, NodeJS.Timeout>();
  const running = new Map<string, Promise<void>>();
  const schedule = (chore: Chore, inMs: number): void => {
    const timer = setTimeout(() => {
      const work = chore
        .run()
        .catch((error: unknown) => {
          if (!stopped) log.warn({ error, chore: chore.name }, 'maintenance failed; it will be repeated');
        })
        .finally(() => {
          running.delete(chore.name);
          if (!stopped) schedule(chore, chore.everyMs);
        });
      running.set(chore.name, work);
    }, inMs);
    timers.set(chore.name, timer.unref());
  };
  for (const chore of chores) {
    schedule(chore, chore.isImmediate === true ? 0 : chore.everyMs * (0.2 + 0.8 * random.fraction()));
  }
  return {
    async stop(limitMs) {
      stopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
      await within(limitMs, Promise.all(running.values()), () => undefined);
    },
  };
}
