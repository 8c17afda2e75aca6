import { earliest } from '../runtime/instants.ts';

/**
 * A condition on a date: from `since`, inclusive, to before `until`. Undefined when there is neither.
 *
 * Dates in BSON count whole milliseconds, so "not before" is said as "after the millisecond before": SecantusDB misses
 * what is equal to a `$gte` when it walks an index with another field in front and this one descending. Nothing is
 * stored at the earliest instant, and SecantusDB cannot read the millisecond before it.
 */
export function timeRange(since: Date | undefined, until: Date | undefined): TimeRange | undefined {
  if (since === undefined && until === undefined) return undefined;
  return {
    ...(since === undefined ? {} : { $gt: new Date(Math.max(since.getTime() - 1, earliest.getTime())) }),
    ...(until === undefined ? {} : { $lt: until }),
  };
}

interface TimeRange {
  readonly $gt?: Date;
  readonly $lt?: Date;
}
