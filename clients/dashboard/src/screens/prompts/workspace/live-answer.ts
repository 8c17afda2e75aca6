import type { Schemas } from 'prompt-gateway-client';
import { useSyncExternalStore } from 'react';

/** What has come of an answer so far. */
export interface AnswerSoFar {
  readonly text: string;
  /** The calls to providers that failed before. */
  readonly attempts: readonly Schemas['FailedAttempt'][];
  readonly invocationId?: string | undefined;
}

/** An answer that is being streamed. Listeners are called once a frame at most. */
export interface LiveAnswer {
  readonly get: () => AnswerSoFar;
  readonly subscribe: (listener: () => void) => () => void;
  readonly add: (more: Partial<AnswerSoFar>) => void;
}

const nothing: AnswerSoFar = { text: '', attempts: [] };

export function createLiveAnswer(): LiveAnswer {
  let soFar = nothing;
  let frame: number | undefined;
  const listeners = new Set<() => void>();
  return {
    get: () => soFar,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    add: ({ text = '', ...known }) => {
      soFar = { ...soFar, ...known, text: soFar.text + text };
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        for (const listener of listeners) listener();
      });
    },
  };
}

/** What has come so far. Only the component that shows it is rendered with each piece. */
export function useAnswerSoFar(live: LiveAnswer | undefined): AnswerSoFar {
  return useSyncExternalStore(live?.subscribe ?? never, live?.get ?? none);
}

const never = (): (() => void) => () => undefined;
const none = (): AnswerSoFar => nothing;
