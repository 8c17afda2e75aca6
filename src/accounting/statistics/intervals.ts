import { quarterMs } from '../../base/runtime/intervals.ts';

/** The intervals that counts are kept for, numbered from the epoch. They begin at whole minutes and quarters in UTC. */
export const grains = {
  minute: { milliseconds: 60_000, kept: 60 },
  quarter: { milliseconds: quarterMs, kept: 96 },
} as const;
/** `kept` intervals of a grain are an hour of minutes, and a day of quarters of an hour. */
export type Grain = keyof typeof grains;

/** The number of the interval that contains a time. @param at milliseconds since the epoch */
export function intervalAt(grain: Grain, at: number): number {
  return Math.floor(at / grains[grain].milliseconds);
}

/** The number of the oldest interval that is shown at a time. */
export function firstShown(grain: Grain, at: number): number {
  return intervalAt(grain, at) - grains[grain].kept + 1;
}

export function startOf(grain: Grain, interval: number): Date {
  return new Date(interval * grains[grain].milliseconds);
}
