import type { Clock } from './clock.ts';

/** Shares the result of work between all callers that ask while it is in progress or for some time afterwards. */
export function shareFor<T>(
  milliseconds: number,
  { monotonic }: Pick<Clock, 'monotonic'>,
  work: () => Promise<T>,
): () => Promise<T> {
  let last: { finishedAt: number; result: Promise<T> } | undefined;
  return () => {
    if (last === undefined || monotonic() - last.finishedAt > milliseconds) {
      const shared = { finishedAt: Infinity, result: work().finally(() => (shared.finishedAt = monotonic())) };
      last = shared;
    }
    return last.result;
  };
}
