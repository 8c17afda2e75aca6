/** Clock, waiting and chance. The tests of the client put their own in the place. */
export interface Timing {
  /** Milliseconds on a clock that is never set back. */
  monotonic(): number;
  /** Milliseconds since 1970. */
  now(): number;
  /** A number from 0 to 1. */
  random(): number;
  /**
   * Resolves after some milliseconds.
   * @throws the signal's reason, as soon as it is aborted
   */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

export const realTiming: Timing = {
  monotonic: () => performance.now(),
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      if (signal?.aborted === true) stop();
      signal?.addEventListener('abort', stop);
    }),
};
