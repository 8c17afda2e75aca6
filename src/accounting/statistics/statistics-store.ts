import type { AnyBulkWriteOperation, Collection } from 'mongodb';
import { dayMs } from '../../base/runtime/intervals.ts';
import { upsertAll } from '../../storage/db/bulk-writes.ts';
import { expiryIndex, type CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import type { RetryOptions } from '../../storage/db/retry.ts';
import type { CountedKind } from './counts.ts';
import { grains, type Grain } from './intervals.ts';

/** What is counted. `id` is that of the integration, the provider or the prompt, empty for the service. */
export interface Subject {
  readonly kind: CountedKind;
  readonly id: string;
}

/** What was counted for a subject in an interval. */
export interface Tally {
  readonly subject: Subject;
  readonly grain: Grain;
  readonly interval: number;
  /** The version of a prompt; else 0. */
  readonly version: number;
  readonly counts: readonly number[];
}

/** What one process has counted so far. */
export interface OwnTally extends Tally {
  readonly writer: string;
}

/** Counts in the database. Every method can throw `database-unavailable`. */
export interface StatisticsStore {
  /** Writes tallies. Each replaces what its writer wrote for it before, so a repetition does not count twice. */
  write(tallies: readonly OwnTally[], retry?: RetryOptions): Promise<void>;
  /** What every process has counted for some subjects, from one interval to another, both included. */
  find(subjects: readonly Subject[], grain: Grain, from: number, to: number): Promise<Tally[]>;
}

/**
 * The counts of a subject on a day in UTC, by all processes, under the id `<kind>/<id>/<day>`. Counts are found under
 * `<slot>_<version>_<writer>`. `quarters` have a slot for each quarter of an hour of the day. `minutes` have one for
 * each minute of an hour, which the next hour uses again, so the number of the minute precedes the counts.
 */
interface StatisticsDocument {
  _id: string;
  minutes?: Record<string, number[]>;
  quarters?: Record<string, number[]>;
  expires_at: Date;
}

const name = 'statistics';
const fields = { minute: 'minutes', quarter: 'quarters' } as const;

export const statisticsIndexes: CollectionIndexes = { collection: name, indexes: [expiryIndex] };

/** Keeps counts in the collection `statistics`. Its documents are read by their ids alone. */
export function createStatisticsStore(database: PagedDatabase): StatisticsStore {
  const collection: Collection<StatisticsDocument> = database.db.collection(name);
  return {
    async write(tallies, retry) {
      const changes = new Map<string, { [field: string]: unknown; expires_at: Date }>();
      for (const { subject, grain, interval, version, counts, writer } of tallies) {
        const day = dayOf(grain, interval);
        const id = documentId(subject, day);
        const change = changes.get(id) ?? { expires_at: expiryOf(subject, day) };
        const key = `${interval % grains[grain].kept}_${version}_${writer}`;
        change[`${fields[grain]}.${key}`] = grain === 'minute' ? [interval, ...counts] : counts;
        changes.set(id, change);
      }
      const writes = [...changes].map(([_id, $set]): AnyBulkWriteOperation<StatisticsDocument> => ({
        updateOne: { filter: { _id }, update: { $set }, upsert: true },
      }));
      await upsertAll(collection, writes, retry);
    },
    async find(subjects, grain, from, to) {
      const days = [...new Set([dayOf(grain, from), dayOf(grain, to)])];
      const wanted = new Map(
        days.flatMap((day) => subjects.map((subject) => [documentId(subject, day), { subject, day }] as const)),
      );
      const found: Tally[] = [];
      const projection = { [fields[grain]]: 1 };
      for await (const [id, document] of database.pages.fetch(collection, [...wanted.keys()], { projection })) {
        const { subject, day = 0 } = wanted.get(id) ?? {};
        if (subject === undefined || document === undefined) continue;
        for (const [key, list] of Object.entries(document[fields[grain]] ?? {})) {
          const [slot = 0, version = 0] = key.split('_').map(Number);
          const [interval = 0, ...counts] = grain === 'minute' ? list : [day * grains.quarter.kept + slot, ...list];
          if (interval >= from && interval <= to) found.push({ subject, grain, interval, version, counts });
        }
      }
      return found;
    },
  };
}

/** The number of the day of an interval, since the epoch. */
function dayOf(grain: Grain, interval: number): number {
  return Math.floor((interval * grains[grain].milliseconds) / dayMs);
}

function documentId({ kind, id }: Subject, day: number): string {
  return `${kind}/${id}/${new Date(day * dayMs).toISOString().slice(0, 10)}`;
}

/**
 * A day is shown until the end of the next. Documents of different subjects expire over twelve hours, so that a command
 * that removes expired documents matches few.
 */
function expiryOf({ id }: Subject, day: number): Date {
  const share = (Number.parseInt(id.slice(0, 4), 16) || 0) / 0x1_0000;
  return new Date((day + 2.1 + share / 2) * dayMs);
}
