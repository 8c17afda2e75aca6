/** Statistics: sums over intervals, the oldest first. */
interface Counted {
  totals: { at: string };
  points: readonly { at: string }[];
  interval_seconds: number;
}

/** What statistics count, as filters of a list: up to the end of the interval in progress. */
export function spanOf({ totals, points, interval_seconds: seconds }: Counted): { since: string; until: string } {
  const last = points.at(-1)?.at ?? totals.at;
  return { since: totals.at, until: new Date(Date.parse(last) + seconds * 1_000).toISOString() };
}
