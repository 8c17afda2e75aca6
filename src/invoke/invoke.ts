import { ProblemError } from '../errors/problem-error.ts';
import type { CallOptions, Usage } from '../providers/generation.ts';
import type { GenerateOptions, Generated, GeneratedEvent, Generator } from '../generation/generator.ts';
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
}

/** An invocation that was checked. Nothing was spent. */
export interface PreparedInvocation {
  readonly promptId: string;
  /** The version that runs. */
  readonly version: number;
  /** The provider and model that are called first. */
  readonly selected: { readonly provider: string; readonly model: string };
  /** Names of supplied variables that the prompt does not declare or use. */
  readonly unknownVariables: readonly string[];
  /**
   * Runs it.
   *
   * @param signal aborted when nobody needs the answer any more
   * @throws {ProblemError} too-much-in-progress, overloaded; not-cached; provider-*
   * @throws The reason of `signal` when that is aborted.
   */
  generate(signal: AbortSignal): Promise<Generated>;
  /** The same for a stream. Call one of both, once. */
  stream(signal: AbortSignal): AsyncGenerator<GeneratedEvent, void, void>;
}

/**
 * Checks an invocation.
 *
 * @throws {ProblemError} Those of `Planner.fromPrompt`.
 */
export type Invoke = (invocation: Invocation) => Promise<PreparedInvocation>;

export interface InvokeSettings {
  /** Deadline of all calls to providers, in milliseconds. */
  readonly timeoutMs: number;
  /** The largest age in seconds of cached answers for invocations without `Cache-Control`; 0 for no cached answers. */
  readonly cacheMaxAge: number;
}

export interface InvokeDependencies {
  readonly planner: Pick<Planner, 'fromPrompt'>;
  readonly generator: Pick<Generator, 'generate' | 'stream'>;
  readonly statistics: Pick<Statistics, 'invoked'>;
  readonly settings: InvokeSettings;
  readonly memory: Budget;
}

export function createInvoke({ planner, generator, statistics, settings, memory }: InvokeDependencies): Invoke {
  const termsOf = (
    { keyId, traceparent, timeoutMs = settings.timeoutMs, cacheControl }: Invocation,
    signal: AbortSignal,
  ): [call: CallOptions, options: GenerateOptions] => {
    const deadline = performance.now() + Math.min(timeoutMs, settings.timeoutMs);
    const cache = parseCacheControl(cacheControl, settings.cacheMaxAge);
    return [
      { keyId, traceparent, signal, deadline },
      { cache, checkJson: true },
    ];
  };

  return async (invocation) => {
    const { keyId, note } = invocation;
    let found: { prompt: string; version: number } | undefined;
    let selected = { provider: '', model: '' };
    let plan: Awaited<ReturnType<Planner['fromPrompt']>>;
    try {
      plan = await planner.fromPrompt({
        ...invocation.request,
        onPrompt(known) {
          found = known;
          note(known);
        },
        onSelected(known) {
          selected = known;
          note(known);
        },
      });
    } catch (error) {
      if (found !== undefined) statistics.invoked(found.prompt, found.version, undefined);
      throw error;
    }
    const { id: promptId, version } = plan.prompt;
    return {
      ...{ promptId, version, unknownVariables: plan.unknownVariables },
      selected,
      async generate(signal) {
        let generated: Generated | undefined;
        let release: (() => void) | undefined;
        try {
          release = memory.reserve(keyId, bytesOf(plan));
          generated = await generator.generate(plan, ...termsOf(invocation, signal));
          note({ provider: generated.provider, model: generated.model });
          return generated;
        } finally {
          release?.();
          statistics.invoked(promptId, version, generated);
        }
      },
      async *stream(signal) {
        let generated: Generated | undefined;
        let spent: Usage | undefined;
        let release: (() => void) | undefined;
        try {
          release = memory.reserve(keyId, bytesOf(plan));
          const [call, options] = termsOf(invocation, signal);
          const onLeft = (usage: Usage): void => {
            spent = usage;
          };
          for await (const event of generator.stream(plan, { ...call, onLeft }, options)) {
            if (event.type === 'start') note({ provider: event.provider, model: event.model });
            if (event.type === 'finish') generated = event.generated;
            yield event;
          }
        } catch (error) {
          if (error instanceof ProblemError) spent = error.extensions.usage;
          throw error;
        } finally {
          release?.();
          statistics.invoked(promptId, version, generated, spent);
        }
      },
    };
  };
}
