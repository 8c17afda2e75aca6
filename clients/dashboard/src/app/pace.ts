/** How long after the last sign of a person the page still counts as used, in milliseconds. */
const attentionMs = 60_000;
/** After so many milliseconds without one, nobody is there: nothing is asked any more, so that the session can end. */
const absenceMs = 30 * 60_000;
const signs = ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const;

/** How often the page reads again what it shows: often while someone uses it, seldom while it is only open. */
export interface Pace {
  /**
   * Milliseconds until the next read; `false`: not before someone is back.
   * @param used while someone uses the page
   * @param idle while nobody does
   */
  readonly interval: (used: number, idle: number | false) => number | false;
  /** Calls back when someone uses the page again after a while. Returns a function that ends this. */
  readonly onReturn: (listener: () => void) => () => void;
}

function createPace(): Pace {
  let lastSign = Date.now();
  const listeners = new Set<() => void>();
  const note = (): void => {
    const wasIdle = Date.now() - lastSign >= attentionMs;
    lastSign = Date.now();
    if (wasIdle) for (const listener of listeners) listener();
  };
  for (const sign of signs) addEventListener(sign, note, { capture: true, passive: true });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') note();
  });
  return {
    interval: (used, idle) => {
      const unused = Date.now() - lastSign;
      if (unused < attentionMs) return used;
      return unused < absenceMs && idle;
    },
    onReturn: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The pace of this tab of the browser. */
export const pace: Pace = createPace();
