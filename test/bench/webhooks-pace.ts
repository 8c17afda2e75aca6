import { setTimeout as sleep } from 'node:timers/promises';

/** An order, and when its placing was acknowledged, in milliseconds since the epoch. */
export type Acknowledged = readonly [orderId: string, at: number];

export interface PaceOptions {
  readonly seconds: number;
  /** Orders a second; without it as many as can be. */
  readonly rate?: number;
  /** Orders that are being placed at once, at most. */
  readonly concurrency: number;
  /** Orders not yet delivered everywhere, at most: intake waits for delivery, or a queue would be measured. */
  readonly outstanding?: number;
}

/**
 * Places orders for some seconds, as fast as they are delivered or at a rate.
 *
 * @param delivered how many of them have been delivered everywhere so far
 */
export async function pace(
  place: () => Promise<Acknowledged>,
  delivered: () => number,
  { seconds, rate, concurrency, outstanding = Number.POSITIVE_INFINITY }: PaceOptions,
): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = [];
  const started = performance.now();
  const end = started + seconds * 1_000;
  let begun = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < end) {
      const due = rate === undefined ? 0 : started + (begun * 1_000) / rate - performance.now();
      if (due > 0 || begun - delivered() >= outstanding) {
        await sleep(Math.max(1, Math.min(due, 20)));
        continue;
      }
      begun += 1;
      acknowledged.push(await place());
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return acknowledged;
}
