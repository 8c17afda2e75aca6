import { setTimeout as sleep } from 'node:timers/promises';

/** Work that nobody may be waiting for, but that a process should not stop in the middle of. */
export interface PendingWork {
  /** Counts a task as pending until it has settled. @returns the task */
  track<Result>(task: Promise<Result>): Promise<Result>;
  /** Resolves when nothing is pending, or after so many milliseconds. */
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
    drain: (timeoutMs) => waitAtMost(timeoutMs, settled()),
  };
}

/** Waits for a task, but no longer than so many milliseconds. */
export async function waitAtMost(milliseconds: number, task: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  const timeout = sleep(milliseconds, undefined, { signal: done.signal }).catch(() => undefined);
  await Promise.race([task, timeout]);
  done.abort();
}
