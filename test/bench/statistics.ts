/** V8 compiles hot code in several steps. Warming up ends after the last step, because a service runs for days. */
export const warmUpSeconds = 20;

/** The median; for an even number of values, the lower of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}
