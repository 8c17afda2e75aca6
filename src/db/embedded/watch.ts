import type { DatabaseLog } from '../log.ts';
import { messageOf } from '../../runtime/system-error.ts';
import { isBroken, type ServerProbe } from './identity.ts';
import { createWorkWatch } from './processes.ts';

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

export interface Watched {
  isRunning(): boolean;
  /** Milliseconds for which the server has used a processor; undefined if that is not known. */
  processorTime(): Promise<number | undefined>;
  /** Opens a connection to read from the current server. */
  openProbe(): ServerProbe;
  /** True while no server can start because the file system is full. */
  isFull(): Promise<boolean>;
  /** Replaces the current server by a working one. @throws Error when there is none yet */
  replace(): Promise<void>;
}

/**
 * Creates a function that tells whether a server that does not answer has to be replaced: it has neither answered nor
 * worked for a minute, or not answered for much longer.
 *
 * The function takes the processor time of the server and the time of a monotonic clock.
 */
export function createPatience(
  { silentForMs, workingForMs }: Pick<WatchTimes, 'silentForMs' | 'workingForMs'>,
  lastAnswer: number,
): (used: number | undefined, now: number) => boolean {
  const hasWorked = createWorkWatch();
  let lastSign = lastAnswer;
  return (used, now) => {
    if (hasWorked(used, now)) lastSign = now;
    return now - lastSign >= silentForMs || now - lastAnswer >= workingForMs;
  };
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
  let probe: ServerProbe | undefined;
  let brokenAnswers = 0;
  let lastAnswer = monotonic();
  let isOver = createPatience(times, lastAnswer);
  let nextAttempt = 0;
  let toldFull = false;

  const noteAnswer = (): void => {
    lastAnswer = monotonic();
    isOver = createPatience(times, lastAnswer);
  };

  /** Why the server has to be replaced. */
  const findFault = async (): Promise<string | undefined> => {
    if (!watched.isRunning()) return 'has ended';
    try {
      probe ??= watched.openProbe();
      await probe.read();
      brokenAnswers = 0;
      noteAnswer();
    } catch (error) {
      if (isBroken(error)) {
        noteAnswer();
        brokenAnswers += 1;
        return brokenAnswers >= BROKEN_ANSWERS ? `cannot read any more (${messageOf(error)})` : undefined;
      }
      const now = monotonic();
      if (isOver(await watched.processorTime(), now)) {
        return `has not answered for ${Math.round((now - lastAnswer) / 1_000)} s`;
      }
    }
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
    await probe?.close().catch(() => undefined);
    probe = undefined;
    try {
      await watched.replace();
      log.warn({}, 'the embedded database works again');
    } catch (error) {
      log.warn({ err: error }, 'the embedded database could not be restarted; retrying');
    }
    brokenAnswers = 0;
    noteAnswer();
    nextAttempt = lastAnswer + times.pauseMs;
  };

  let check: Promise<void> | undefined;
  const timer = setInterval(() => {
    check ??= findFault()
      .then((fault) => (fault === undefined ? undefined : replace(fault)))
      .finally(() => (check = undefined));
  }, times.intervalMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await check;
    await probe?.close();
  };
}
