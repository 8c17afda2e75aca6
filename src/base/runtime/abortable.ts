/**
 * Waits for work until a signal is aborted. After that the work continues, and its outcome is ignored: it must hold
 * nothing that somebody has to release.
 *
 * @throws the reason of the signal
 */
export function abortable<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    const stopWaiting = (): void => {
      signal.removeEventListener('abort', abort);
    };
    work.then(resolve, reject).finally(stopWaiting);
  });
}
