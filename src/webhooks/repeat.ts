/** Work that is repeated. */
export interface Repetition {
  /** Begins no more runs. Resolves when the one in progress has ended. */
  end(): Promise<void>;
}

/**
 * Repeats work, with a pause between the end of a run and the next one.
 *
 * @param pause milliseconds, asked before each run
 * @param onFailure called with what a run throws; the next run follows as usual
 * @param firstPause milliseconds before the first run
 */
export function repeat(
  work: () => Promise<void>,
  pause: () => number,
  onFailure: (error: unknown) => void,
  firstPause = pause(),
): Repetition {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  let hasEnded = false;
  const runIn = (milliseconds: number): void => {
    timer = setTimeout(() => {
      running = work()
        .catch(onFailure)
        .finally(() => {
          if (!hasEnded) runIn(pause());
        });
    }, milliseconds);
  };
  runIn(firstPause);
  return {
    async end() {
      hasEnded = true;
      clearTimeout(timer);
      await running;
    },
  };
}
