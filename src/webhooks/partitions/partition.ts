import type { ValueSpan } from '../../storage/db/pages.ts';

/**
 * A partition is a 64th of all integrations: those whose ids, which are random, begin with the same six bits. Each is
 * held by one process. The number never changes, because processes of two releases may run side by side.
 */
export const partitionCount = 64;

/** The partition of an integration. */
export function partitionOf(integrationId: string): number {
  const digits = Number.parseInt(integrationId.slice(0, 2), 16);
  return Number.isNaN(digits) ? 0 : digits >> 2;
}

/** The ids of partitions, in as few spans as possible. */
export function spansOf(partitions: Iterable<number>): ValueSpan[] {
  const spans: { first: number; last: number }[] = [];
  for (const partition of [...partitions].sort((a, b) => a - b)) {
    const span = spans.at(-1);
    if (span?.last === partition - 1) span.last = partition;
    else spans.push({ first: partition, last: partition });
  }
  return spans.map(({ first, last }) => ({
    from: firstId(first),
    before: last + 1 === partitionCount ? undefined : firstId(last + 1),
  }));
}

function firstId(partition: number): string {
  return (partition * 4).toString(16).padStart(2, '0');
}
