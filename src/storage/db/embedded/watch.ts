import type { DatabaseLog } from '../log.ts';
import { messageOf } from '../../../base/runtime/system-error.ts';
import { isBroken } from './identity.ts';

/** When a server is replaced. Milliseconds. */
export interface WatchTimes {
  /** Between two checks. */
  intervalMs: number;
  /**
   * Without an answer. A server can stop answering for some seconds under heavy writing, on a busy machine for longer.
   */
  silentForMs: number;
  /** Without an answer while it works: some servers answer nobody else while they build or drop a large index. */
  workingForMs: number;
  /** Between two attempts to start a server. */
  pauseMs: number;
}

export const usualWatchTimes: WatchTimes = {
  intervalMs: 1_000,
  silentForMs: 60_000,
  workingForMs: 30 * 60_000,
  pauseMs: 3_000,
};

/** Consecutive answers that the server cannot read, after which it is replaced. */
const BROKEN_ANSWERS = 2;
/** A process that uses less than this part of one processor is not working; answers to heartbeats use less. */
const WORKING_SHARE = 0.02;

/** The patience with a server since its last answer. */
export interface Patience {
  /** When it answered last, by a monotonic clock in milliseconds. */
  readonly since: number;
  /**
   * Whether it has neither answered nor worked for a minute, or not answered for much longer.
   *
   * @param used milliseconds for which it has used a processor; undefined if that is not known
   */
  isOver(used: number | undefined, now: number): boolean;
}

export function createPatience(times: Pick<WatchTimes, 'silentForMs' | 'workingForMs'>, since: number): Patience {
  let lastSign = since;
  let last: { used: number; at: number } | undefined;
  return {
    since,
    isOver(used, now) {
      if (last !== undefined && used !== undefined && used - last.used > WORKING_SHARE * (now - last.at))
        lastSign = now;
      last = used === undefined ? undefined : { used, at: now };
      return now - lastSign >= times.silentForMs || now - since >= times.workingForMs;
    },
  };
}

export interface Watched {
  isRunning(): boolean;
  /** Milliseconds for which the server has used a processor; undefined if that is not known. */
  processorTime(): Promise<number | undefined>;
  /** One real read. @throws MongoServerError when the server cannot read; another error when it does not answer */
  read(): Promise<unknown>;
  /** True while no server can start because the file system is full. */
  isFull(): Promise<boolean>;
  /** Replaces the current server by a working one. @throws Error when there is none yet */
  replace(): Promise<void>;
}

/**
 * Checks a server once a second with a real read: after a full disk, a storage engine refuses all commands, although
 * its process runs and answers pings. A server that has ended, cannot read, or does not answer is replaced. Failed
 * attempts are repeated.
 *
 * @returns a function that stops the checks, after the work in progress
 */
export function watchServer(
  watched: Watched,
  log: DatabaseLog,
  times: WatchTimes = usualWatchTimes,
  monotonic: () => number = () => performance.now(),
): () => Promise<void> {
  let brokenAnswers = 0;
  let patience = createPatience(times, monotonic());
  let nextAttempt = 0;
  let toldFull = false;

  /** Why the server has to be replaced. */
  const findFault = async (): Promise<string | undefined> => {
    if (!watched.isRunning()) return 'has ended';
    try {
      await watched.read();
    } catch (error) {
      if (!isBroken(error)) {
        const [used, now] = [await watched.processorTime(), monotonic()];
        const silentForS = Math.round((now - patience.since) / 1_000);
        return patience.isOver(used, now) ? `has not answered for ${silentForS} s` : undefined;
      }
      brokenAnswers += 1;
      if (brokenAnswers >= BROKEN_ANSWERS) return `cannot read any more (${messageOf(error)})`;
      patience = createPatience(times, monotonic());
      return undefined;
    }
    brokenAnswers = 0;
    patience = createPatience(times, monotonic());
    return undefined;
  };

  const replace = async (fault: string): Promise<void> => {
    if (monotonic() < nextAttempt) return;
    if (await watched.isFull()) {
      if (!toldFull) log.warn({}, `the embedded database ${fault}; its file system is full; waiting for space`);
      toldFull = true;
      return;
    }
    toldFull = false;
    log.warn({}, `the embedded database ${fault}; restarting it`);
    try {
      await watched.replace();
      log.warn({}, 'the embedded database works again');
    } catch (error) {
      log.warn({ err: error }, 'the embedded database could not be restarted; retrying');
    }
    brokenAnswers = 0;
    patience = createPatience(times, monotonic());
    nextAttempt = patience.since + times.pauseMs;
  };

  let check: Promise<void> | undefined;
  const timer = setInterval(() => {
    check ??= findFault()
      .then((fault) => (fault === undefined ? undefined : replace(fault)))
      .catch((error: unknown) => {
        log.warn({ err: error }, 'the embedded database could not be checked; retrying');
      })
      .finally(() => (check = undefined));
  }, times.intervalMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await check;
  };
}
