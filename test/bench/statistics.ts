/** V8 compiles hot code in several steps. What serves for days is measured after the last of them. */
export const warmUpSeconds = 20;

/** The middle value; of an even number of values the lower of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}
