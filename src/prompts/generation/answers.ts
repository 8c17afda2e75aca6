import { noCost } from '../../base/runtime/money.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { finishOf, type CallOptions, type FailedAttempt, type GenerateResult } from '../../models/language-model.ts';
import type { CallObserver } from './call-observer.ts';
import { callTarget, type CallTargetDependencies, type TargetAnswer, type TargetForm } from './call-target.ts';
import type { Target } from './plan.ts';
import { cacheKey, type ResponseCache } from './response-cache.ts';
import { createSharedCalls, type Caller } from './shared-calls.ts';

/** How one request can use the answer cache. */
export interface CachePolicy {
  /** Largest acceptable age of a cached answer, in milliseconds; 0 if no cached answer is acceptable. */
  readonly maxAgeMs: number;
  /** Whether a new answer can be cached, and shared with identical requests while it is generated. */
  readonly store: boolean;
  /** Whether the provider must not be called. */
  readonly onlyIfCached: boolean;
}

/** For requests that do not use the cache. */
export const noCache: CachePolicy = { maxAgeMs: 0, store: false, onlyIfCached: false };

export interface Answer extends TargetAnswer {
  /** Whole seconds since the provider gave the answer, if it comes from the cache. */
  readonly age: number | undefined;
}

/** Where the answers of one target come from. */
export interface Answers {
  /**
   * Takes an answer from the cache, waits for an identical call in progress, or calls the provider, as the policy
   * allows.
   *
   * Only callers that accept a cached answer join a call in progress: `no-cache` and `max-age=0` always call. A shared
   * answer is as fresh as one's own, so it does not count as cached.
   *
   * @throws {ProblemError} not-cached, provider-*; all callers of a shared call get its failure
   * @throws The reason of `call.signal` when that is aborted.
   */
  get(target: Target, call: CallOptions, policy: CachePolicy, form: TargetForm): Promise<Answer>;
  /** An answer in the cache. @throws {ProblemError} not-cached if the policy accepts nothing else */
  find(target: Target, policy: CachePolicy): Answer | undefined;
  /** Keeps an answer, if the policy allows it and another call would not give a better one. */
  keep(target: Target, result: GenerateResult, policy: CachePolicy): void;
}

export interface AnswersDependencies extends CallTargetDependencies {
  readonly cache: ResponseCache;
  readonly metrics: CallObserver;
}

/** The end of a call that several callers can share. */
interface Ended {
  readonly attempts: readonly FailedAttempt[];
  readonly outcome: { readonly answer: TargetAnswer } | { readonly problem: ProblemError };
}

export function createAnswers(dependencies: AnswersDependencies): Answers {
  const { cache, metrics } = dependencies;
  const sharedCalls = createSharedCalls<Ended>();
  // A request can be large, so its key is made once.
  const keys = new WeakMap<Target, string>();
  const keyOf = (target: Target): string => {
    const key = keys.get(target) ?? cacheKey(target);
    keys.set(target, key);
    return key;
  };

  const find: Answers['find'] = (target, policy) => {
    if (!policy.store && !policy.onlyIfCached) return undefined;
    const started = performance.now();
    const kept = cache.get(keyOf(target), policy.maxAgeMs);
    if (kept !== undefined) {
      metrics.countCache('hit');
      const latencyMs = Math.round(performance.now() - started);
      return { result: kept.result, latencyMs, cost: noCost, age: Math.floor(kept.ageMs / 1000) };
    }
    if (!policy.onlyIfCached) return undefined;
    metrics.countCache('miss');
    throw new ProblemError('not-cached', { detail: 'There is no cached answer that is fresh enough.' });
  };

  const keep: Answers['keep'] = (target, result, policy) => {
    if (policy.store && mayBeKept(result)) cache.set(keyOf(target), result);
  };

  const callShared = async (target: Target, call: CallOptions, policy: CachePolicy): Promise<TargetAnswer> => {
    const {
      principal,
      traceparent,
      tracestate,
      requestId,
      signal,
      deadline,
      maxAttempts,
      retries = 0,
      onFailedAttempt,
    } = call;
    const { attemptLog } = call;
    const caller: Caller = {
      signal,
      deadline,
      invocation: attemptLog?.id,
      onJoin: ({ invocation }) => {
        if (invocation !== undefined) attemptLog?.join(invocation);
      },
      timeout: () => {
        const problem = timedOut(target);
        onFailedAttempt?.({
          provider: target.provider.id,
          model: target.request.model,
          problem: problem.type,
          may_be_billed: true,
        });
        return problem;
      },
    };
    // A call with fewer attempts can fail where one with more does not, and so can one that other budgets pay.
    const key = `${maxAttempts ?? ''} ${retries} ${attemptLog?.payers ?? ''} ${keyOf(target)}`;
    const joined = policy.maxAgeMs > 0 ? sharedCalls.join(key, caller) : undefined;
    metrics.countCache(joined === undefined ? 'miss' : 'joined');
    const ended = await (joined ??
      sharedCalls.start(key, caller, {
        async perform(terms) {
          const attempts: FailedAttempt[] = [];
          const release = attemptLog?.hold();
          const shared: CallOptions = {
            principal,
            traceparent,
            tracestate,
            requestId,
            retries,
            attemptLog,
            signal: terms.signal,
            ...(maxAttempts !== undefined && { maxAttempts }),
            get deadline() {
              return terms.deadline;
            },
            onFailedAttempt: (attempt) => attempts.push(attempt),
          };
          try {
            const { answer } = await finishOf(
              callTarget(target, shared, { isStreamed: false, isChecked: true }, dependencies),
            );
            return { attempts, outcome: { answer } };
          } catch (problem) {
            if (!(problem instanceof ProblemError)) throw problem;
            return { attempts, outcome: { problem } };
          } finally {
            release?.();
          }
        },
        keep({ outcome }) {
          if ('answer' in outcome) keep(target, outcome.answer.result, policy);
        },
      }));
    for (const attempt of ended.attempts) onFailedAttempt?.(attempt);
    if ('problem' in ended.outcome) throw ended.outcome.problem;
    // The caller who started the call pays for it.
    return joined === undefined ? ended.outcome.answer : { ...ended.outcome.answer, cost: noCost };
  };

  return {
    find,
    keep,
    async get(target, call, policy, form) {
      const found = find(target, policy);
      if (found !== undefined) return found;
      // Kept and shared answers are the same for all callers, so they are checked.
      const answer = policy.store
        ? await callShared(target, call, policy)
        : (await finishOf(callTarget(target, call, form, dependencies))).answer;
      return { ...answer, age: undefined };
    },
  };
}

/** Whether another call would probably end in the same way. */
function mayBeKept({ finishReason, isUnverified }: GenerateResult): boolean {
  return !isUnverified && (finishReason === 'stop' || finishReason === 'length' || finishReason === 'tool-calls');
}

/** For a caller whose deadline passes while the shared call continues for others. */
function timedOut({ provider, request: { model } }: Target): ProblemError {
  return new ProblemError('provider-timeout', {
    detail: 'The provider did not answer before the deadline.',
    extensions: { provider: provider.id, model, retryable: false },
  });
}
