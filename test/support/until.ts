import { setTimeout as sleep } from 'node:timers/promises';

/** How long tests wait for what has to come, in milliseconds. Only a failure takes so long; less than a test may take. */
const patienceMs = 120_000;

/** Asks again and again until something is so. @returns the answer that was */
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
