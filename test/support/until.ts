import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How long tests wait for something that must happen, in milliseconds. Only a failure takes this long. It is less than
 * the time limit of a test.
 */
const patienceMs = 120_000;

/** The longest pause between two looks, in milliseconds. Most looks are commands to the database. */
const longestPauseMs = 100;

/**
 * Repeats `ask` until its result satisfies a condition. The longer it takes, the longer are the pauses.
 *
 * @returns that result
 */
export async function until<Value>(
  ask: () => Value | Promise<Value>,
  isSo: (value: Value) => boolean = Boolean,
): Promise<Value> {
  for (const start = performance.now(); ;) {
    const value = await ask();
    if (isSo(value)) return value;
    const waited = performance.now() - start;
    if (waited > patienceMs) throw new Error(`Still not so after ${patienceMs} ms: ${JSON.stringify(value)}`);
    await sleep(Math.min(5 + waited / 8, longestPauseMs));
  }
}
