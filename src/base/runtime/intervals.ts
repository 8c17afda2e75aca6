/** In milliseconds. Quarters of an hour and days begin in UTC. */
export const quarterMs = 15 * 60_000;
export const dayMs = 24 * 3_600_000;

/** The begin of the interval that contains a time. @param at in milliseconds since 1970 */
export function floorTo(intervalMs: number, at: number): number {
  return Math.floor(at / intervalMs) * intervalMs;
}
