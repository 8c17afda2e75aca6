/** Timers with a longer time fire immediately. */
const longestTimer = 2 ** 31 - 1;

/**
 * Runs something until it ends, its time limit is reached, or the caller cancels it, even if `fetch` ignores its signal.
 *
 * @param limit milliseconds
 * @param late the error when the limit is reached
 * @throws this error, or the reason of the caller's signal
 */
export async function withTimeLimit<T>(
  signal: AbortSignal | undefined,
  limit: number,
  late: () => Error,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const stopped = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => {
      reject(controller.signal.reason as Error);
    });
  });
  const cancel = (): void => {
    controller.abort(signal?.reason);
  };
  signal?.addEventListener('abort', cancel);
  const timer = setTimeout(
    () => {
      controller.abort(late());
    },
    Math.min(limit, longestTimer),
  );
  try {
    const result = await Promise.race([run(controller.signal), stopped]);
    // A body that is canceled ends like one that is whole.
    signal?.throwIfAborted();
    return result;
  } catch (error) {
    // `fetch` can report the cancellation with an error of its own.
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  }
}
