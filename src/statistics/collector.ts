import { setTimeout as sleep } from 'node:timers/promises';
import { ProblemError } from '../errors/problem-error.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { addCounts, type Counts, type Kind } from './counts.ts';
import { firstShown, intervalAt, type Grain } from './intervals.ts';
import type { OwnTally, StatisticsStore, Subject } from './statistics-store.ts';

/** Counts in memory, and writes the counts from time to time. */
export interface Collector {
  /**
   * Adds to the counts of a subject in the present minute and quarter of an hour. It does not wait and does not throw.
   * @param version of a prompt
   */
  count<K extends Kind>(kind: K, id: string, counts: Partial<Counts<K>>, version?: number): void;
  /**
   * Writes what was counted since it was last written. What cannot be written is kept for the next time.
   * @throws {ProblemError} database-unavailable
   */
  flush(): Promise<void>;
  /** Writes what was counted, without pauses, for a process that stops. */
  close(): Promise<void>;
}

export interface CollectorDependencies {
  readonly store: Pick<StatisticsStore, 'write'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Random;
}

/** A tally that still grows. */
interface OpenTally extends OwnTally {
  readonly counts: number[];
}

/** Subjects that are counted in a quarter of an hour, each version of a prompt by itself. Others count for the service. */
const maxSubjects = 10_000;
/** Tallies that are kept while the database is away. */
const maxWaiting = 30_000;
/** Versions of a prompt that are counted by themselves in a quarter of an hour. The others count as version 0. */
const maxVersions = 20;
/** Documents that one command writes. On SecantusDB's Python server it takes about a millisecond for each. */
const documentsAtOnce = 25;
/** A command is followed by a pause of so many times its duration: statistics take a tenth of a slow database. */
const pauseFactor = 9;
const longestPauseMs = 1_000;
/** Milliseconds for all attempts of one command. */
const budgetMs = 2_000;

/**
 * Creates an empty collector. A tally is written as a whole each time, under the name of its writer, so a repeated write
 * does not count twice. If the wall clock goes back, this process becomes another writer, because it would replace what
 * it wrote before.
 */
export function createCollector({ store, clock, random }: CollectorDependencies): Collector {
  const open: Record<Grain, Map<string, OpenTally>> = { minute: new Map(), quarter: new Map() };
  /** The number of versions in `open.quarter`, by prompt. */
  const versions = new Map<string, number>();
  /** Tallies that have changed since they were last written. */
  const waiting = new Set<OpenTally>();
  const newWriter = (): string => random.uuid().slice(0, 8);
  let writer = newWriter();
  let minute = 0;
  let quarter = 0;
  let writing: Promise<void> = Promise.resolve();
  const closing = new AbortController();

  /** Forgets the subjects of intervals that are over. */
  const proceed = (): void => {
    const at = clock.now().getTime();
    const next = intervalAt('minute', at);
    if (next === minute) return;
    const isBack = next < minute;
    if (isBack) writer = newWriter();
    minute = next;
    open.minute.clear();
    const nextQuarter = intervalAt('quarter', at);
    if (nextQuarter === quarter && !isBack) return;
    quarter = nextQuarter;
    open.quarter.clear();
    versions.clear();
  };

  const tallyOf = (grain: Grain, key: string, subject: Subject, version: number): OpenTally | undefined => {
    const known = open[grain].get(key);
    if (known !== undefined) return known;
    const isFull = open[grain].size >= maxSubjects || waiting.size >= maxWaiting;
    if (isFull && subject.kind !== 'service') return undefined;
    const interval = grain === 'minute' ? minute : quarter;
    const tally = { subject, grain, interval, version, counts: [], writer };
    open[grain].set(key, tally);
    return tally;
  };

  /** The version that an invocation is counted for. */
  const countedVersion = (id: string, version: number): number => {
    if (version === 0 || open.quarter.has(keyOf('prompt', id, version))) return version;
    const others = versions.get(id) ?? 0;
    if (others >= maxVersions) return 0;
    versions.set(id, others + 1);
    return version;
  };

  const write = async (): Promise<void> => {
    proceed();
    const at = clock.now().getTime();
    const bySubject = new Map<string, OpenTally[]>();
    for (const tally of waiting) {
      if (tally.interval < firstShown(tally.grain, at)) waiting.delete(tally);
      else push(bySubject, keyOf(tally.subject.kind, tally.subject.id, 0), tally);
    }
    const subjects = [...bySubject.values()];
    for (let start = 0; start < subjects.length; start += documentsAtOnce) {
      const tallies = subjects.slice(start, start + documentsAtOnce).flat();
      const started = performance.now();
      for (const tally of tallies) waiting.delete(tally);
      try {
        await store.write(tallies, { budgetMs });
      } catch (error) {
        // Another error is a mistake, which a repetition does not correct.
        if (error instanceof ProblemError) for (const tally of tallies) waiting.add(tally);
        throw error;
      }
      if (start + documentsAtOnce >= subjects.length) return;
      const pause = Math.min(pauseFactor * (performance.now() - started), longestPauseMs);
      await sleep(pause, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };

  const flush = (): Promise<void> => (writing = writing.catch(() => undefined).then(write));

  return {
    count(kind, id, counts, given = 0) {
      proceed();
      const version = countedVersion(id, given);
      const key = keyOf(kind, id, version);
      const subject = { kind, id };
      for (const grain of ['minute', 'quarter'] as const) {
        const tally = tallyOf(grain, key, subject, version);
        if (tally === undefined) continue;
        addCounts(kind, tally.counts, counts);
        waiting.add(tally);
      }
    },
    flush,
    close() {
      closing.abort();
      return flush();
    },
  };
}

function keyOf(kind: Kind, id: string, version: number): string {
  return version === 0 ? `${kind}/${id}` : `${kind}/${id}/${version}`;
}

function push<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
