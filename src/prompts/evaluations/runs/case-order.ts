/**
 * The order in which the cases of an evaluation are asked. It is drawn from its id, so that every process finds the same
 * one: first the parts of the data set, then the cases of each part. So one part is read at a time.
 */
import { hash } from 'node:crypto';
import type { Case } from '../datasets/dataset.ts';
import type { Datasets } from '../datasets/datasets.ts';
import type { Evaluation } from './evaluation.ts';

/**
 * The cases in their order.
 * @param from how many are left out at the beginning
 * @param signal ends the wait for the storage
 * @throws {ProblemError} storage-unavailable
 */
export async function* casesInOrder(
  { id, dataset: { versionId, parts } }: Pick<Evaluation, 'id' | 'dataset'>,
  from: number,
  datasets: Pick<Datasets, 'part'>,
  signal?: AbortSignal,
): AsyncGenerator<Case> {
  let left = from;
  for (const part of drawn(parts.length, id)) {
    const count = parts[part] ?? 0;
    if (left >= count) {
      left -= count;
      continue;
    }
    const cases = await datasets.part({ id: versionId }, part, signal);
    for (const place of drawn(count, `${id}/${part}`).slice(left)) {
      const found = cases[place];
      if (found !== undefined) yield found;
    }
    left = 0;
  }
}

/** The numbers below `count` in an order that follows from a text and nothing else. */
export function drawn(count: number, text: string): number[] {
  const lots = Array.from({ length: count }, (_, number) => ({ number, lot: hash('sha256', `${text}/${number}`) }));
  return lots.sort((one, other) => (one.lot < other.lot ? -1 : 1)).map(({ number }) => number);
}
