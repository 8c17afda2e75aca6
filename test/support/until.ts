import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How long tests wait for something that must happen, in milliseconds. Only a failure takes this long. It is less than
 * the time limit of a test.
 */
const patienceMs = 120_000;

/** Repeats `look` until its result satisfies a condition. @returns that result */
export async function until<Value>(
  ask: () => Value | Promise<Value>,
  isSo: (value: Value) => boolean = Boolean,
): Promise<Value> {
  for (const end = performance.now() + patienceMs; ; await sleep(10)) {
    const value = await ask();
    if (isSo(value)) return value;
    if (performance.now() > end) throw new Error(`Still not so after ${patienceMs} ms: ${JSON.stringify(value)}`);
  }
}
