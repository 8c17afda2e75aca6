import { ProblemError } from '../errors/problem-error.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { CallOptions, GenerateRequest, GenerateResult } from '../providers/generation.ts';
import type { Provider } from '../providers/provider.ts';
import type { CachePolicy } from './cache-control.ts';
import { callProvider, type ProviderAnswer } from './call-provider.ts';
import { cacheKey, type ResponseCache } from './response-cache.ts';
import { createSharedCalls, type Caller } from './shared-calls.ts';

/** A request that wants an answer, and how its provider is to be called. */
export interface Question extends Omit<CallOptions, 'background'> {
  readonly provider: Provider;
  readonly request: GenerateRequest;
}

export interface Answer {
  readonly result: GenerateResult;
  /** Duration of the provider's call in whole milliseconds; for an answer from the cache, of reading it. */
  readonly latencyMs: number;
  /** Whole seconds since the provider gave the answer, if it comes from the cache. */
  readonly age: number | undefined;
}

/** Where answers come from. */
export interface Answers {
  /**
   * Takes an answer from the cache, waits for an identical call in progress, or calls the provider, as the policy
   * allows.
   *
   * Only callers that accept a cached answer join a call in progress: `no-cache` and `max-age=0` always call. A shared
   * answer is as fresh as one's own, so it does not count as cached.
   *
   * @throws {ProblemError} not-cached, provider-*; all callers of a shared call get its failure
   * @throws The reason of `question.signal` when that is aborted.
   */
  get(question: Question, policy: CachePolicy): Promise<Answer>;
}

export interface AnswersDependencies {
  readonly cache: ResponseCache;
  readonly metrics: Pick<Metrics, 'observeProviderCall' | 'countCache'>;
}

export function createAnswers({ cache, metrics }: AnswersDependencies): Answers {
  const sharedCalls = createSharedCalls<ProviderAnswer>();

  const callShared = (question: Question, key: string, policy: CachePolicy): Promise<ProviderAnswer> => {
    const { provider, request, keyId, traceparent, signal, deadline } = question;
    const caller: Caller = { signal, deadline, timeout: () => timedOut(question) };
    const joined = policy.maxAgeMs > 0 ? sharedCalls.join(key, caller) : undefined;
    metrics.countCache(joined === undefined ? 'miss' : 'joined');
    if (joined !== undefined) return joined;
    return sharedCalls.start(key, caller, {
      perform: (terms) => {
        const call: CallOptions = {
          ...{ keyId, traceparent },
          signal: terms.signal,
          get deadline() {
            return terms.deadline;
          },
        };
        return callProvider(provider, request, call, metrics);
      },
      keep: ({ result }) => {
        if (mayBeKept(result)) cache.set(key, result);
      },
    });
  };

  return {
    async get(question, policy) {
      const { provider, request } = question;
      if (!policy.store && !policy.onlyIfCached) return fresh(await callProvider(provider, request, question, metrics));

      const started = performance.now();
      const key = cacheKey(provider.id, request);
      const kept = cache.get(key, policy.maxAgeMs);
      if (kept !== undefined) {
        metrics.countCache('hit');
        const latencyMs = Math.round(performance.now() - started);
        return { result: kept.result, latencyMs, age: Math.floor(kept.ageMs / 1000) };
      }
      if (policy.onlyIfCached) {
        metrics.countCache('miss');
        throw new ProblemError('not-cached', { detail: 'There is no cached answer that is fresh enough.' });
      }
      return fresh(await callShared(question, key, policy));
    },
  };
}

/** The next answer can differ from one that ended with an error. */
function mayBeKept({ finishReason }: GenerateResult): boolean {
  return finishReason !== 'error' && finishReason !== 'other';
}

function fresh({ result, latencyMs }: ProviderAnswer): Answer {
  return { result, latencyMs, age: undefined };
}

/** For a caller whose deadline passes while the shared call continues for others. */
function timedOut({ provider, request: { model } }: Question): ProblemError {
  return new ProblemError('provider-timeout', {
    detail: 'The provider did not answer before the deadline.',
    extensions: { provider: provider.id, model, retryable: true },
  });
}
