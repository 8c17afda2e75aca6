/**
 * Lets tasks that compute for long take turns, so that all of them together do not stop others: in one turn of the event
 * loop they work for some milliseconds.
 *
 * @returns a function to call between small steps of a task; it waits if this turn is used up
 */
export type Turns = () => Promise<void> | undefined;

/** How long all tasks work in one turn of the event loop, in milliseconds. */
const turnMs = 2;

export function createTurns(): Turns {
  const waiting: (() => void)[] = [];
  let until = 0;
  const grant = (): void => {
    until = performance.now() + turnMs;
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(grant);
  };
  return () => {
    if (performance.now() < until) return undefined;
    return new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(grant);
    });
  };
}
