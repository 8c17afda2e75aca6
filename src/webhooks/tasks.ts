/** Work in the background that must end before this process leaves. */
export interface Tasks {
  /** Failures are reported and otherwise ignored. */
  track(work: Promise<unknown>): void;
  /** Resolves when nothing is in progress. */
  idle(): Promise<void>;
}

export function createTasks(onFailure: (error: unknown) => void): Tasks {
  const running = new Set<Promise<void>>();
  return {
    track(work) {
      const tracked = work
        .then(() => undefined, onFailure)
        .finally(() => {
          running.delete(tracked);
        });
      running.add(tracked);
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
