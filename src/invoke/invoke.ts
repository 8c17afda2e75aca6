import type { Planner, PromptPlan, PromptRequest } from '../generation/planner.ts';
import type { Known, PrepareRun, Run } from '../generation/invocations.ts';
import type { RequestMemory } from '../limits/memory-budget.ts';
import { parseCacheControl } from './cache-control.ts';

/** A request to run a prompt. */
export interface Invocation {
  /** What runs, and what the request changes in it. */
  readonly request: Omit<PromptRequest, 'onPrompt' | 'onSelected'>;
  /** The caller's API key. */
  readonly keyId: string;
  /** For the log. */
  readonly requestId: string;
  readonly memory: RequestMemory;
  /** Milliseconds that the providers may take. It can shorten the configured deadline, not extend it. */
  readonly timeoutMs: number | undefined;
  /** The caller's trace context, which is passed on to the providers. */
  readonly traceparent: string | undefined;
  /** Called with the version, and with the provider and model, as soon as they are known. */
  readonly note: (known: Known) => void;
  /** The request's `Cache-Control` field; see `parseCacheControl`. */
  readonly cacheControl: string | undefined;
}

/** An invocation that was checked. Nothing was spent. */
export interface PreparedInvocation extends Run<PromptPlan> {
  /** The provider and model that are called first. */
  readonly selected: { readonly provider: string; readonly model: string };
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
  readonly prepareRun: PrepareRun;
  readonly settings: InvokeSettings;
}

export function createInvoke({ planner, prepareRun, settings }: InvokeDependencies): Invoke {
  return async ({
    request,
    keyId,
    requestId,
    memory,
    traceparent,
    timeoutMs = settings.timeoutMs,
    cacheControl,
    note,
  }) => {
    let selected = { provider: '', model: '' };
    const run = await prepareRun({
      keyId,
      requestId,
      memory,
      traceparent,
      note,
      timeoutMs: Math.min(timeoutMs, settings.timeoutMs),
      options: { cache: parseCacheControl(cacheControl, settings.cacheMaxAge) },
      plan: (onKnown) =>
        planner.fromPrompt({
          ...request,
          onPrompt: onKnown,
          onSelected(known) {
            selected = known;
            onKnown(known);
          },
        }),
    });
    return { ...run, selected };
  };
}
