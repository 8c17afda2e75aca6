export interface Caller {
  /** Aborted when the caller no longer needs the answer; its reason becomes the caller's error. */
  readonly signal: AbortSignal;
  /** The caller's deadline, on the clock of `performance.now`. */
  readonly deadline: number;
  /** Creates the caller's error when its deadline passes. */
  readonly timeout: () => Error;
  /** Called if the caller joins a call, with the one who has started it. */
  readonly onJoin?: (starter: Caller) => void;
  /** Of the caller's invocation. */
  readonly invocation?: string | undefined;
}

/** What a call knows about its callers. */
export interface CallTerms {
  /** Aborted when the last caller has left, with that caller's error as the reason. */
  readonly signal: AbortSignal;
  /** The latest deadline of all callers. It can move when a caller joins, so read it each time. */
  readonly deadline: number;
}

/** Calls in progress, each of which serves any number of identical requests. */
export interface SharedCalls<Answer> {
  /** Waits for the latest call of this key; undefined when there is none in progress. */
  join(key: string, caller: Caller): Promise<Answer> | undefined;
  /**
   * Starts a call and waits for it. Later callers join this call. An earlier call of the same key continues for its own
   * callers.
   */
  start(key: string, caller: Caller, work: SharedWork<Answer>): Promise<Answer>;
}

export interface SharedWork<Answer> {
  /** All callers get the error that it throws. */
  perform(terms: CallTerms): Promise<Answer>;
  /** Gets the answer before the callers, unless there is a later call of the same key. */
  keep(answer: Answer): void;
}

interface CallUnderWay<Answer> {
  readonly outcome: Promise<Answer>;
  readonly terms: { deadline: number };
  readonly starter: Caller;
  callers: number;
  readonly cancel: (reason: unknown) => void;
}

/**
 * Creates an empty set of shared calls. A caller waits at most until its own deadline and then fails alone. A call
 * continues until the latest deadline of its callers and is canceled when the last of them leaves.
 */
export function createSharedCalls<Answer>(): SharedCalls<Answer> {
  const latest = new Map<string, CallUnderWay<Answer>>();

  const wait = (call: CallUnderWay<Answer>, { signal, deadline, timeout }: Caller): Promise<Answer> => {
    call.callers += 1;
    call.terms.deadline = Math.max(call.terms.deadline, deadline);
    return new Promise((resolve, reject) => {
      const stopWaiting = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', hangUp);
      };
      const leave = (reason: unknown): void => {
        stopWaiting();
        call.callers -= 1;
        if (call.callers === 0) call.cancel(reason);
        reject(reason as Error);
      };
      const hangUp = (): void => {
        leave(signal.reason);
      };
      const timer = setTimeout(() => {
        leave(timeout());
      }, deadline - performance.now());
      signal.addEventListener('abort', hangUp, { once: true });
      call.outcome.finally(stopWaiting).then(resolve, reject);
    });
  };

  return {
    join(key, caller) {
      const call = latest.get(key);
      if (call === undefined) return undefined;
      if (caller.signal.aborted) return Promise.reject(caller.signal.reason as Error);
      caller.onJoin?.(call.starter);
      return wait(call, caller);
    },
    start(key, caller, { perform, keep }) {
      if (caller.signal.aborted) return Promise.reject(caller.signal.reason as Error);
      const controller = new AbortController();
      const terms = { signal: controller.signal, deadline: caller.deadline };
      const retire = (): boolean => latest.get(key) === call && latest.delete(key);
      const outcome = perform(terms).then(
        (answer) => {
          if (retire()) keep(answer);
          return answer;
        },
        (error: unknown) => {
          retire();
          throw error;
        },
      );
      const cancel = (reason: unknown): void => {
        // Immediately, so that no caller joins a call that has failed.
        retire();
        controller.abort(reason);
      };
      const call: CallUnderWay<Answer> = { outcome, terms, starter: caller, callers: 0, cancel };
      latest.set(key, call);
      return wait(call, caller);
    },
  };
}
