import type { Schemas } from 'prompt-gateway-client';

/** What has come of an answer so far. */
export interface AnswerSoFar {
  readonly text: string;
  /** The calls to providers that failed before. */
  readonly attempts: readonly Schemas['FailedAttempt'][];
}

/** An answer that is being streamed, for `useSyncExternalStore`. Listeners are called once a frame at most. */
export interface LiveAnswer {
  readonly get: () => AnswerSoFar;
  readonly subscribe: (listener: () => void) => () => void;
  readonly add: (more: Partial<AnswerSoFar>) => void;
}

export function createLiveAnswer(): LiveAnswer {
  let soFar: AnswerSoFar = { text: '', attempts: [] };
  let frame: number | undefined;
  const listeners = new Set<() => void>();
  return {
    get: () => soFar,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    add: ({ text = '', attempts = soFar.attempts }) => {
      soFar = { text: soFar.text + text, attempts };
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        for (const listener of listeners) listener();
      });
    },
  };
}
