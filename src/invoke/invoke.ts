import { callBytes, copies, type Budget } from '../limits/memory-budget.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { PromptContent } from '../prompts/prompt.ts';
import type { Prompts } from '../prompts/prompts.ts';
import type { ProviderRegistry } from '../providers/provider.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Statistics } from '../statistics/statistics.ts';
import { createAnswers, type Answer } from './answers.ts';
import { parseCacheControl } from './cache-control.ts';
import { lengthOf, renderPrompt } from './render-prompt.ts';
import { createResponseCache } from './response-cache.ts';
import { selectModel } from './select-model.ts';

/** A request to run a prompt. */
export interface Invocation {
  /** The caller's API key. */
  readonly keyId: string;
  readonly slugOrId: string;
  /** Runs exactly this version; without `label` and `version`, the latest. */
  readonly version: number | undefined;
  /** Runs the version that this label names. */
  readonly label: string | undefined;
  /** The variables by name, as parsed from JSON. */
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  /** With `model`, overrides the selection of the version that runs; see `selectModel`. */
  readonly provider: string | undefined;
  readonly model: string | undefined;
  /** Milliseconds that the provider may take. It can shorten the configured deadline, not extend it. */
  readonly timeoutMs: number | undefined;
  /** The caller's trace context, which is passed on to the provider. */
  readonly traceparent: string | undefined;
  /** Called with the chosen version, provider and model as soon as they are known. */
  readonly note: (chosen: { prompt: string; version: number } | { provider: string; model: string }) => void;
  /** The request's `Cache-Control` field; see `parseCacheControl`. */
  readonly cacheControl: string | undefined;
  /** Aborted when the caller closes the connection. */
  readonly signal: AbortSignal;
}

/** The result of an invocation. */
export interface InvocationOutcome extends Answer {
  readonly promptId: string;
  /** The version that ran. */
  readonly version: number;
  readonly provider: string;
  readonly model: string;
  /** Names of supplied variables that the prompt does not declare or use. */
  readonly unknownVariables: readonly string[];
}

/**
 * Runs a prompt.
 *
 * @throws {ProblemError} Before any provider is called, in this order: prompt-not-found, version-not-found, unknown-label;
 * missing-variables, unknown-variables, rendered-prompt-too-large; no-provider-selected, unknown-provider,
 * provider-not-configured; too-much-in-progress, overloaded; not-cached. Afterwards provider-*.
 * @throws The reason of `signal` when that is aborted.
 */
export type Invoke = (invocation: Invocation) => Promise<InvocationOutcome>;

export interface InvokeSettings {
  /** Deadline of a provider call with its retries, in milliseconds. */
  readonly timeoutMs: number;
  /** The largest age in seconds of cached answers for invocations without `Cache-Control`; 0 for no cached answers. */
  readonly cacheMaxAge: number;
  /** Memory for cached answers, in bytes; 0 for no cache. */
  readonly cacheMaxBytes: number;
}

export interface InvokeDependencies {
  readonly prompts: Pick<Prompts, 'resolve'>;
  readonly providers: Pick<ProviderRegistry, 'get'>;
  readonly metrics: Pick<Metrics, 'observeProviderCall' | 'countCache'>;
  readonly statistics: Pick<Statistics, 'invoked'>;
  readonly settings: InvokeSettings;
  readonly memory: Budget;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Creates the rules for invoking prompts, with their own answer cache. */
export function createInvoke(dependencies: InvokeDependencies): Invoke {
  const { prompts, providers, metrics, statistics, settings, memory, clock } = dependencies;
  const cache = createResponseCache(settings.cacheMaxBytes, clock.monotonic);
  const answers = createAnswers({ cache, metrics });

  /** Calls the provider, or finds the answer in the cache. */
  const answer = async (
    invocation: Invocation,
    content: PromptContent,
  ): Promise<Omit<InvocationOutcome, 'promptId' | 'version'>> => {
    const { rendered, unknown: unknownVariables } = renderPrompt(content, invocation.variables);
    const { provider, model } = selectModel(providers, content, invocation);
    invocation.note({ provider: provider.id, model });

    const policy = parseCacheControl(invocation.cacheControl, settings.cacheMaxAge);
    const deadline = performance.now() + Math.min(invocation.timeoutMs ?? settings.timeoutMs, settings.timeoutMs);
    const { keyId, traceparent, signal } = invocation;
    const release = memory.reserve(keyId, callBytes + copies * lengthOf(rendered));
    try {
      const request = { model, ...rendered };
      const found = await answers.get({ provider, request, keyId, traceparent, signal, deadline }, policy);
      return { provider: provider.id, model, unknownVariables, ...found };
    } finally {
      release();
    }
  };

  return async (invocation) => {
    const { id, version, content } = await prompts.resolve(invocation.slugOrId, invocation);
    invocation.note({ prompt: id, version });
    try {
      const answered = await answer(invocation, content);
      statistics.invoked(id, version, answered);
      return { promptId: id, version, ...answered };
    } catch (error) {
      statistics.invoked(id, version, undefined);
      throw error;
    }
  };
}
