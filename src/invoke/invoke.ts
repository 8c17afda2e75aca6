import type { CallOptions } from '../providers/generation.ts';
import type { GenerateOptions, Generated, Generator } from '../generation/generator.ts';
import type { Plan } from '../generation/plan.ts';
import type { Planner, PromptRequest } from '../generation/planner.ts';
import { bytesOf } from '../generation/request-size.ts';
import type { Budget } from '../limits/memory-budget.ts';
import type { Statistics } from '../statistics/statistics.ts';
import { parseCacheControl } from './cache-control.ts';

/** A request to run a prompt. */
export interface Invocation {
  /** What runs, and what the request changes in it. */
  readonly request: Omit<PromptRequest, 'onPrompt' | 'onSelected'>;
  /** The caller's API key. */
  readonly keyId: string;
  /** Milliseconds that the providers may take. It can shorten the configured deadline, not extend it. */
  readonly timeoutMs: number | undefined;
  /** The caller's trace context, which is passed on to the providers. */
  readonly traceparent: string | undefined;
  /** Called with the version, and with the provider and model, as soon as they are known. */
  readonly note: (known: { prompt: string; version: number } | { provider: string; model: string }) => void;
  /** The request's `Cache-Control` field; see `parseCacheControl`. */
  readonly cacheControl: string | undefined;
  /** Aborted when the caller closes the connection. */
  readonly signal: AbortSignal;
}

/** The result of an invocation. */
export interface InvocationOutcome extends Generated {
  readonly promptId: string;
  /** The version that ran. */
  readonly version: number;
  /** Names of supplied variables that the prompt does not declare or use. */
  readonly unknownVariables: readonly string[];
}

/**
 * Runs a prompt.
 *
 * @throws {ProblemError} Before any provider is called, in this order: those of `Planner.fromPrompt`;
 *   too-much-in-progress, overloaded; not-cached. Afterwards provider-*.
 * @throws The reason of `signal` when that is aborted.
 */
export type Invoke = (invocation: Invocation) => Promise<InvocationOutcome>;

export interface InvokeSettings {
  /** Deadline of all calls to providers, in milliseconds. */
  readonly timeoutMs: number;
  /** The largest age in seconds of cached answers for invocations without `Cache-Control`; 0 for no cached answers. */
  readonly cacheMaxAge: number;
}

export interface InvokeDependencies {
  readonly planner: Pick<Planner, 'fromPrompt'>;
  readonly generator: Pick<Generator, 'generate'>;
  readonly statistics: Pick<Statistics, 'invoked'>;
  readonly settings: InvokeSettings;
  readonly memory: Budget;
}

export function createInvoke({ planner, generator, statistics, settings, memory }: InvokeDependencies): Invoke {
  const generate = async (invocation: Invocation, plan: Plan): Promise<Generated> => {
    const { keyId, traceparent, signal, timeoutMs = settings.timeoutMs } = invocation;
    const deadline = performance.now() + Math.min(timeoutMs, settings.timeoutMs);
    const call: CallOptions = { keyId, traceparent, signal, deadline };
    const options: GenerateOptions = {
      cache: parseCacheControl(invocation.cacheControl, settings.cacheMaxAge),
      checkJson: true,
    };
    const release = memory.reserve(keyId, bytesOf(plan));
    try {
      return await generator.generate(plan, call, options);
    } finally {
      release();
    }
  };

  return async (invocation) => {
    let found: { prompt: string; version: number } | undefined;
    try {
      const plan = await planner.fromPrompt({
        ...invocation.request,
        onPrompt(known) {
          found = known;
          invocation.note(known);
        },
        onSelected: invocation.note,
      });
      const generated = await generate(invocation, plan);
      const { provider, model } = generated;
      invocation.note({ provider, model });
      const { id: promptId, version } = plan.prompt;
      statistics.invoked(promptId, version, generated);
      return { ...generated, promptId, version, unknownVariables: plan.unknownVariables };
    } catch (error) {
      if (found !== undefined) statistics.invoked(found.prompt, found.version, undefined);
      throw error;
    }
  };
}
