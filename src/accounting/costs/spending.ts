/**
 * What calls to providers cost, added up from the invocation log.
 *
 * A quarter of an hour is added up once, when no invocation that began in it can be in progress: some minutes have
 * passed, and no journal has an older entry. Records never change, so any process can do it, also several at the same
 * time, and get the same sums: each goes on until it sees that another one has closed more. What follows the closed quarters is read from the records for each answer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Span } from '../../storage/db/pages.ts';
import type { CalledDocument } from '../invocations/invocation.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { floorTo, quarterMs } from '../../base/runtime/intervals.ts';
import { shareReads } from '../../base/runtime/shared-reads.ts';
import { createTurns } from '../../base/runtime/turns.ts';
import type { DaySums, SpendingFilter, SpendingStore } from './spending-store.ts';
import { addSums, noSums, SumsOfRecords, type CallGroup, type GroupSums, type Sums } from './sums.ts';

export const dimensions = ['day', 'key', 'prompt', 'version', 'model', 'tag'] as const;
export type Dimension = (typeof dimensions)[number];

export interface SpendingQuery extends SpendingFilter {
  readonly by: Dimension;
  /** In milliseconds since 1970, as `until`. */
  readonly since: number;
  readonly until: number;
}

/** The sums of a day, a key and so on. */
export interface CostsOfGroup {
  /** Such as `2026-11-06`. */
  readonly day: string;
  /** One of those that were added up; only what `by` names is the same for all. */
  readonly group: CallGroup;
  readonly sums: Sums;
}

export interface SpendingAnswer {
  readonly total: Sums;
  /** The days in their order, others by cost, the largest first. */
  readonly spent: readonly CostsOfGroup[];
  /** All invocations are in it that began before, in milliseconds since 1970. */
  readonly completeUntil: number;
  /** Set if it lacks the invocations from then on, because there are too many to read, in milliseconds since 1970. */
  readonly addedUpUntil: number | undefined;
}

export interface Spending {
  /** @throws {ProblemError} database-unavailable */
  get(query: SpendingQuery): Promise<SpendingAnswer>;
  /** Closes the quarters of an hour that can be closed. @throws {ProblemError} database-unavailable */
  close(): Promise<void>;
}

/** The invocation log. */
export interface Records {
  /** The records of a span with their calls, the earliest first. */
  called(span: Required<Span>): AsyncIterable<CalledDocument[]>;
  /** The begin of the first day that has records; undefined if none has. */
  firstDay(): Promise<number | undefined>;
  /** When the oldest invocation began that is in a journal; undefined if none is. */
  oldestOpen(): Promise<number | undefined>;
}

export interface SpendingDependencies {
  readonly store: SpendingStore;
  readonly records: Records;
  readonly clock: Pick<Clock, 'now'>;
  /** How long after its begin an invocation is in the journal at the latest, if it calls a provider, in milliseconds. */
  readonly journalledMs: number;
}

/** The quarters that are not closed, as far as they were read. */
interface OpenQuarters {
  readonly quarters: ReadonlyMap<number, SumsOfRecords>;
  /** When the first record began that was not read. */
  readonly readUntil: number | undefined;
}

/** Tags of a quarter of an hour that are kept: callers can name any. */
const mostTags = 1_000;
/**
 * From so many records after the closed quarters on, an answer reads no further when it has read for `longestOpenMs`.
 * And they are read again only after a multiple of the time that this takes: pages that ask again and again get sums
 * that are some seconds old, and leave the time to others.
 */
const manyOpen = 2_000;
const longestOpenMs = 1_000;
const keptFactor = 4;
/** A quarter with records is followed by a pause of so many times the duration of adding it up. */
const pauseFactor = 3;
const longestPauseMs = 1_000;

export function createSpending({ store, records, clock, journalledMs }: SpendingDependencies): Spending {
  const turns = createTurns();

  let kept: (OpenQuarters & { from: string; until: number }) | undefined;
  /** The quarters that are not closed yet: from a time on. */
  const openQuarters = shareReads(async (from: string): Promise<OpenQuarters> => {
    const began = performance.now();
    if (kept?.from === from && began < kept.until) return kept;
    const quarters = new Map<number, SumsOfRecords>();
    let readUntil: number | undefined;
    let count = 0;
    const span = { since: new Date(from), until: new Date(clock.now().getTime() + quarterMs) };
    for await (const batch of records.called(span)) {
      if (count >= manyOpen && performance.now() - began > longestOpenMs) {
        readUntil = batch[0]?.created_at.getTime();
        break;
      }
      for (const record of batch) {
        await turns();
        const start = floorTo(quarterMs, record.created_at.getTime());
        const sums = quarters.get(start) ?? new SumsOfRecords();
        sums.add(record);
        quarters.set(start, sums);
      }
      count += batch.length;
    }
    const took = performance.now() - began;
    const open = { quarters, readUntil };
    kept = count >= manyOpen ? { ...open, from, until: began + (1 + keptFactor) * took } : undefined;
    return open;
  });

  /**
   * Stores the sums of a quarter of an hour, and pauses.
   * @param closed until when all were closed before
   * @param began when its records began to be read
   * @returns false if another process has closed quarters meanwhile
   */
  const closeQuarter = async (
    start: number,
    { groups, tagged }: SumsOfRecords,
    closed: number | undefined,
    began: number,
  ): Promise<boolean> => {
    await store.write(start, [...groups.values(), ...dearestTags([...tagged.values()])]);
    if (!(await store.advance(closed, start + quarterMs))) return false;
    await sleep(Math.min(pauseFactor * (performance.now() - began), longestPauseMs), undefined, { ref: false });
    return true;
  };

  /** The end of the last quarter that gets no more records, by the clock of this process. */
  const lastEnd = (): number => floorTo(quarterMs, clock.now().getTime() - journalledMs);

  return {
    async get({ by, since, until, ...filter }) {
      // Read first: a quarter that is closed in the meantime is read from its records.
      const known = (await store.closedUntil()) ?? (await records.firstDay()) ?? until;
      const closed = Math.min(known, lastEnd());
      const span = { since: new Date(since), until: new Date(Math.min(until, closed)) };
      const open = closed < until ? await openQuarters(new Date(closed).toISOString()) : undefined;
      const each = async (isTagged: boolean, add: (one: DaySums) => void): Promise<void> => {
        for await (const batch of store.walk(span, filter, isTagged)) {
          for (const one of batch) {
            await turns();
            add(one);
          }
        }
        for (const [start, quarter] of open?.quarters ?? []) {
          if (start < since || start >= until) continue;
          const groups = isTagged ? quarter.tagged : quarter.groups;
          for (const one of groups.values()) if (isIn(filter, one.group)) add({ ...one, day: new Date(start) });
        }
      };
      const total = noSums();
      const spent = new Map<string, CostsOfGroup>();
      const addToGroup = ({ day, group, sums }: DaySums): void => {
        const key = keys[by](group, day);
        const known = spent.get(key);
        if (known === undefined) spent.set(key, { day: nameOf(day), group, sums: { ...sums } });
        else addSums(known.sums, sums);
      };
      // A call is in the groups of all its tags, and once in the total.
      if (by === 'tag') await each(true, addToGroup);
      await each(filter.tag !== undefined, (one) => {
        addSums(total, one.sums);
        if (by !== 'tag') addToGroup(one);
      });
      const { readUntil = until } = open ?? {};
      return {
        total,
        spent: inOrder(by, [...spent.values()]),
        completeUntil: Math.min(closed, until),
        addedUpUntil: readUntil < until ? readUntil : undefined,
      };
    },

    async close() {
      const newest = lastEnd();
      // Read before the records: what leaves a journal is in the records before.
      const oldest = await records.oldestOpen();
      const end = floorTo(quarterMs, Math.min(newest, oldest ?? Infinity));
      let closed = await store.closedUntil();
      // A process whose clock was ahead closed quarters too early: they are closed again, with all their records.
      if (closed !== undefined && closed > newest + quarterMs) {
        if (!(await store.advance(closed, newest))) return;
        closed = newest;
      }
      if ((closed ?? 0) >= end) return;
      const from = closed ?? (await records.firstDay()) ?? end;
      let start = from;
      let began = performance.now();
      let sums: SumsOfRecords | undefined;
      for await (const batch of records.called({ since: new Date(from), until: new Date(end) })) {
        for (const record of batch) {
          await turns();
          const next = floorTo(quarterMs, record.created_at.getTime());
          if (sums !== undefined && next > start) {
            if (!(await closeQuarter(start, sums, closed, began))) return;
            closed = start + quarterMs;
            began = performance.now();
            sums = undefined;
          }
          start = next;
          sums ??= new SumsOfRecords();
          sums.add(record);
        }
      }
      if (sums !== undefined) {
        if (!(await closeQuarter(start, sums, closed, began))) return;
        closed = start + quarterMs;
      }
      if (closed !== end) await store.advance(closed, end);
    },
  };
}

function nameOf(day: Date): string {
  return day.toISOString().slice(0, 10);
}

/** What is added up. */
const keys: Readonly<Record<Dimension, (group: CallGroup, day: Date) => string>> = {
  day: (_group, day) => nameOf(day),
  key: ({ keyId }) => keyId,
  prompt: ({ promptId = '' }) => promptId,
  version: ({ promptId = '', promptVersion = 0 }) => `${promptId} ${promptVersion}`,
  model: ({ provider, model }) => `${provider}/${model}`,
  tag: ({ tag = '' }) => tag,
};

function isIn(filter: SpendingFilter, { promptId, keyId, provider, model, tag }: CallGroup): boolean {
  return (
    (filter.promptIds === undefined || (promptId !== undefined && filter.promptIds.has(promptId))) &&
    (filter.keyId ?? keyId) === keyId &&
    (filter.provider ?? provider) === provider &&
    (filter.model ?? model) === model &&
    (filter.tag ?? tag) === tag
  );
}

function inOrder(by: Dimension, spent: CostsOfGroup[]): CostsOfGroup[] {
  if (by === 'day') return spent.sort((one, other) => (one.day < other.day ? -1 : 1));
  return spent.sort(({ sums: one }, { sums: other }) => compare(other.cost, one.cost) || other.calls - one.calls);
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The groups of the tags that cost most. */
function dearestTags(groups: readonly GroupSums[]): readonly GroupSums[] {
  const byTag = Map.groupBy(groups, ({ group: { tag } }) => tag);
  if (byTag.size <= mostTags) return groups;
  const costs = [...byTag].map(([tag = '', some]) => ({
    tag,
    cost: some.reduce((sum, { sums: { cost } }) => sum + cost, 0n),
  }));
  const dearest = costs
    .sort((one, other) => compare(other.cost, one.cost) || (one.tag < other.tag ? -1 : 1))
    .slice(0, mostTags);
  return dearest.flatMap(({ tag }) => byTag.get(tag) ?? []);
}
