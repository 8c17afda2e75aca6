import type { Counts } from './queries.ts';

/**
 * The points of the hour before an hour, out of those of a day. Its end is up to one interval earlier than the start of
 * the hour, so that both have no time in common.
 *
 * @param points of the day, the oldest first
 * @param intervalSeconds length of an interval of them
 * @param start of the hour (ISO 8601)
 */
export function hourBefore(points: readonly Counts[], intervalSeconds: number, start: string): readonly Counts[] {
  const interval = intervalSeconds * 1_000;
  return points.filter(({ at }) => Date.parse(at) + interval <= Date.parse(start)).slice(-3_600_000 / interval);
}
