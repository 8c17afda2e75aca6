import { within } from '../../base/runtime/within.ts';

/** Work that a process finishes before it stops, even if no caller waits for it. */
export interface PendingWork {
  /** Counts a task as pending until it has settled. @returns the task */
  track<Result>(task: Promise<Result>): Promise<Result>;
  /** Resolves when nothing is pending, or after this many milliseconds. */
  drain(timeoutMs: number): Promise<void>;
}

export function createPendingWork(): PendingWork {
  const tasks = new Set<Promise<unknown>>();
  const settled = async (): Promise<void> => {
    while (tasks.size > 0) await Promise.allSettled(tasks);
  };
  return {
    track(task) {
      tasks.add(task);
      const forget = (): void => void tasks.delete(task);
      task.then(forget, forget);
      return task;
    },
    drain: (timeoutMs) => within(timeoutMs, settled(), () => undefined),
  };
}
