import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage } from '../../base/errors/outage.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';
import { addCounts, noCounts, type Counts, type CountedKind } from './counts.ts';
import { firstShown, intervalAt, type Grain } from './intervals.ts';
import type { OwnTally, StatisticsStore, Subject } from './statistics-store.ts';

/** Counts in memory, and writes the counts from time to time. */
export interface Collector {
  /**
   * Adds to the counts of a subject in a minute and a quarter of an hour. It does not wait and does not throw.
   * @param version of a prompt
   * @param at when what is counted began; now by default
   */
  count<K extends CountedKind>(
    kind: K,
    id: string,
    counts: Partial<Counts<K>>,
    of?: { readonly version?: number | undefined; readonly at?: Date },
  ): void;
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

/** The present tallies of a subject, or of a version of a prompt. */
interface Series {
  minute: OpenTally;
  readonly quarter: OpenTally;
}

/** Series of a quarter of an hour. Other subjects only count for the service. */
const maxSeries = 10_000;
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
  const open: Record<CountedKind, Map<string, Map<number, Series>>> = {
    service: new Map(),
    integration: new Map(),
    provider: new Map(),
    prompt: new Map(),
  };
  let openSeries = 0;
  /** Tallies of intervals that were over when something in them was counted. */
  const late = new Map<string, OpenTally>();
  /** Tallies that have changed since they were last written: of the service, and of all other subjects. */
  const waiting = { service: new Set<OpenTally>(), others: new Set<OpenTally>() };
  const waitingWith = ({ kind }: Subject): Set<OpenTally> => (kind === 'service' ? waiting.service : waiting.others);
  const newWriter = (): string => random.uuid().slice(0, 8);
  let writer = newWriter();
  let minute = 0;
  let quarter = 0;
  let writing: Promise<void> = Promise.resolve();
  const closing = new AbortController();

  /** Forgets the subjects of a quarter of an hour that is over. */
  const proceed = (): void => {
    const at = clock.now().getTime();
    const next = intervalAt('minute', at);
    if (next === minute) return;
    const isBack = next < minute;
    if (isBack) {
      writer = newWriter();
      late.clear();
    }
    minute = next;
    for (const [key, { grain, interval }] of late) if (interval < firstShown(grain, at)) late.delete(key);
    const nextQuarter = intervalAt('quarter', at);
    if (nextQuarter === quarter && !isBack) return;
    quarter = nextQuarter;
    for (const subjects of Object.values(open)) subjects.clear();
    openSeries = 0;
  };

  const openTally = (subject: Subject, grain: Grain, version: number): OpenTally => ({
    subject,
    grain,
    interval: grain === 'minute' ? minute : quarter,
    version,
    counts: noCounts(subject.kind),
    writer,
  });

  const seriesOf = (subject: Subject, given: number): Series | undefined => {
    const { kind, id } = subject;
    const versions = open[kind].get(id) ?? new Map<number, Series>();
    const version = versions.has(given) || versions.size < maxVersions ? given : 0;
    const known = versions.get(version);
    const hasRoom = kind === 'service' || waiting.others.size < maxWaiting;
    if (known !== undefined) {
      if (known.minute.interval !== minute && hasRoom) known.minute = openTally(subject, 'minute', version);
      return known;
    }
    if (!hasRoom || (kind !== 'service' && openSeries >= maxSeries)) return undefined;
    const begun = { minute: openTally(subject, 'minute', version), quarter: openTally(subject, 'quarter', version) };
    open[kind].set(id, versions.set(version, begun));
    openSeries += 1;
    return begun;
  };

  /** Its own writer keeps it apart from what this process has written for the interval before. */
  const lateTally = (subject: Subject, grain: Grain, interval: number, version: number): OpenTally | undefined => {
    const { kind, id } = subject;
    const key = [kind, id, version, grain, interval].join('/');
    const known = late.get(key);
    if (known !== undefined || (kind !== 'service' && late.size >= maxSeries)) return known;
    const begun = { ...openTally(subject, grain, version), interval, writer: `${writer}+` };
    late.set(key, begun);
    return begun;
  };

  const write = async (): Promise<void> => {
    proceed();
    const at = clock.now().getTime();
    for (const tally of [...waiting.service, ...waiting.others]) {
      if (tally.interval < firstShown(tally.grain, at)) waitingWith(tally.subject).delete(tally);
    }
    const bySubject = Map.groupBy(waiting.others, ({ subject: { kind, id } }) => `${kind}/${id}`);
    const subjects = [...bySubject.values()];
    for (let start = 0; ; start += documentsAtOnce) {
      // Those of the service are written each time, however many others there are.
      const tallies = [...waiting.service, ...subjects.slice(start, start + documentsAtOnce).flat()];
      if (tallies.length === 0) return;
      const started = performance.now();
      for (const tally of tallies) waitingWith(tally.subject).delete(tally);
      try {
        await store.write(tallies, { budgetMs });
      } catch (error) {
        // Another error is a mistake, which a repetition does not correct.
        if (isOutage(error)) for (const tally of tallies) waitingWith(tally.subject).add(tally);
        throw error;
      }
      if (start + documentsAtOnce >= subjects.length) return;
      const pause = Math.min(pauseFactor * (performance.now() - started), longestPauseMs);
      await sleep(pause, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };

  const flush = (): Promise<void> => (writing = writing.catch(() => undefined).then(write));

  return {
    count(kind, id, counts, { version: given = 0, at = clock.now() } = {}) {
      proceed();
      const subject = { kind, id };
      const series = seriesOf(subject, given);
      if (series === undefined) return;
      const { version } = series.quarter;
      for (const present of [series.minute, series.quarter]) {
        const { grain } = present;
        const interval = intervalAt(grain, at.getTime());
        const isPresent = interval === (grain === 'minute' ? minute : quarter);
        const tally = isPresent ? present : lateTally(subject, grain, interval, version);
        if (tally?.interval !== interval) continue;
        addCounts(kind, tally.counts, counts);
        waitingWith(tally.subject).add(tally);
      }
    },
    flush,
    close() {
      closing.abort();
      return flush();
    },
  };
}
