/** A loop can wait with this for a change. */
export interface Signal {
  notify(): void;
  /** @returns false when nothing was notified within the time. A notification before the call counts. */
  wait(milliseconds: number): Promise<boolean>;
}

export function createSignal(): Signal {
  let notified = false;
  let wakeUp: (() => void) | undefined;
  return {
    notify() {
      notified = true;
      wakeUp?.();
    },
    async wait(milliseconds) {
      if (!notified) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, milliseconds);
          wakeUp = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wakeUp = undefined;
      }
      const before = notified;
      notified = false;
      return before;
    },
  };
}
