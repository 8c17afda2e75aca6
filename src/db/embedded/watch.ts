import type { DatabaseLog } from '../log.ts';
import { isBroken, type ServerProbe } from './identity.ts';
import { createWorkWatch } from './processes.ts';

/** When a server is replaced, and how often one is started. Milliseconds. */
export interface WatchTimes {
  /** Between two checks. */
  intervalMs: number;
  /**
   * Without an answer. A server can stop answering for some seconds under heavy writing, on a busy machine for longer.
   */
  silentForMs: number;
  /** Without an answer while it works: some servers answer nobody else while they build or drop a large index. */
  workingForMs: number;
  /** Before the second consecutive attempt to start a server; doubles with each further attempt. */
  firstPauseMs: number;
  longestPauseMs: number;
  /** A server that has worked for this long counts as healthy: the next attempt is made immediately. */
  wellAfterMs: number;
}

const usualWatchTimes: WatchTimes = {
  intervalMs: 1_000,
  silentForMs: 60_000,
  workingForMs: 30 * 60_000,
  firstPauseMs: 1_000,
  longestPauseMs: 10_000,
  wellAfterMs: 60_000,
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
 * Checks a server once a second with a real read: after a full disk, a storage engine refuses all commands, although
 * its process runs and answers pings. A server that has ended, cannot read, or has neither answered nor worked for a
 * minute is replaced. Failed attempts are repeated with increasing pauses.
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
  let lastWork = lastAnswer;
  const work = createWorkWatch();
  let wellSince: number | undefined;
  let failedAttempts = 0;
  let nextAttempt = 0;
  let toldFull = false;

  /** Why the server has to be replaced. */
  const findFault = async (): Promise<string | undefined> => {
    if (!watched.isRunning()) return 'has ended';
    probe ??= watched.openProbe();
    try {
      await probe.read();
    } catch (error) {
      wellSince = undefined;
      if (isBroken(error)) {
        lastAnswer = monotonic();
        brokenAnswers += 1;
        return brokenAnswers >= BROKEN_ANSWERS ? `cannot read any more (${messageOf(error)})` : undefined;
      }
      const now = monotonic();
      if (work.hasWorked(await watched.processorTime(), now)) lastWork = now;
      const silentMs = now - lastAnswer;
      const isIdle = now - Math.max(lastAnswer, lastWork) >= times.silentForMs;
      return isIdle || silentMs >= times.workingForMs
        ? `has not answered for ${Math.round(silentMs / 1_000)} s`
        : undefined;
    }
    const now = monotonic();
    brokenAnswers = 0;
    lastAnswer = now;
    wellSince ??= now;
    if (now - wellSince >= times.wellAfterMs) failedAttempts = 0;
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
    const now = monotonic();
    nextAttempt = now + Math.min(times.firstPauseMs * 2 ** failedAttempts, times.longestPauseMs);
    failedAttempts += 1;
    brokenAnswers = 0;
    lastAnswer = now;
    wellSince = undefined;
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
