import { earliest } from '../../runtime/instants.ts';

/**
 * A condition on a date: from `since`, inclusive, to before `until`. Undefined when there is neither.
 *
 * Dates in BSON are whole milliseconds, so the lower bound is written as "after the millisecond before": SecantusDB
 * misses values that equal a `$gte` when it walks an index in which another field precedes this one in descending
 * order. The earliest instant gets no lower bound: nothing is stored there, and SecantusDB cannot read the millisecond
 * before it.
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
