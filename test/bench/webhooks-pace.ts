import { setTimeout as sleep } from 'node:timers/promises';

/** An order, and the time when the service acknowledged it, in milliseconds since the epoch. */
export type Acknowledged = readonly [orderId: string, at: number];

export interface PaceOptions {
  readonly seconds: number;
  /** Orders per second. Without it, as many as possible. */
  readonly rate?: number;
  /** The highest number of orders that are being placed at the same time. */
  readonly concurrency: number;
  /**
   * The highest number of orders that are not yet delivered everywhere. Without this limit the benchmark would measure
   * a queue.
   */
  readonly outstanding?: number;
}

/**
 * Places orders for some seconds, at a rate or as fast as they are delivered.
 *
 * @param delivered returns how many of them have been delivered everywhere so far
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
