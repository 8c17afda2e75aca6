import { ProblemError } from '../errors/problem-error.ts';
import type { RequestMemory } from '../limits/memory-budget.ts';
import type { CallOptions, Usage } from '../providers/language-model.ts';
import type { Statistics } from '../statistics/statistics.ts';
import type { Generated, GeneratedEvent, GenerateOptions, Generator } from './generator.ts';
import type { Plan } from './plan.ts';
import { bytesOf } from './request-size.ts';

/** What becomes known of a request: the version, and the provider and model that are called. */
export type Known =
  { readonly prompt: string; readonly version: number } | { readonly provider: string; readonly model: string };

/** A request for an answer that a caller waits for. */
export interface RunRequest<Planned extends Plan> {
  /** The caller's API key. */
  readonly keyId: string;
  /** For the log. */
  readonly requestId: string;
  /** The memory of the request, which has enough for its body. */
  readonly memory: RequestMemory;
  /** The caller's trace context, which is passed on to the providers. */
  readonly traceparent: string | undefined;
  /** Milliseconds from the start of the calls that the providers may take; for a stream, to its first content. */
  readonly timeoutMs: number;
  readonly options?: GenerateOptions;
  /** Called as soon as something is known, and again when another target answers. */
  readonly note: (known: Known) => void;
  /** Checks the request. What it notes is passed on. */
  readonly plan: (note: (known: Known) => void) => Promise<Planned>;
}

/** A request that was checked. Nothing was spent. Call one of both methods, once. */
export interface Run<Planned extends Plan> {
  readonly plan: Planned;
  /**
   * @param signal aborted when nobody needs the answer any more
   * @throws {ProblemError} too-much-in-progress, overloaded; not-cached; provider-*
   * @throws The reason of `signal` when that is aborted.
   */
  generate(signal: AbortSignal): Promise<Generated>;
  /** The same for an answer that is streamed. Leaving the loop cancels the call. */
  stream(signal: AbortSignal): AsyncGenerator<GeneratedEvent, void, void>;
}

/**
 * Plans a request. A request for a stored prompt is counted in its statistics, also if it fails, and a run reserves the
 * memory that its calls need.
 *
 * @throws {ProblemError} Those of `plan`.
 */
export type PrepareRun = <Planned extends Plan>(request: RunRequest<Planned>) => Promise<Run<Planned>>;

export interface RunDependencies {
  readonly generator: Pick<Generator, 'generate' | 'stream'>;
  readonly statistics: Pick<Statistics, 'invoked'>;
}

export function createRuns({ generator, statistics }: RunDependencies): PrepareRun {
  return async ({ keyId, requestId, memory, traceparent, timeoutMs, options, note, plan: makePlan }) => {
    let found: { readonly prompt: string; readonly version: number } | undefined;
    const count = (generated: Generated | undefined, spent?: Usage): void => {
      if (found !== undefined) statistics.invoked(found.prompt, found.version, generated, spent);
    };
    const plan = await makePlan((known) => {
      if ('prompt' in known) found = known;
      note(known);
    }).catch((error: unknown) => {
      count(undefined);
      throw error;
    });
    const callWith = (signal: AbortSignal): CallOptions => ({
      keyId,
      requestId,
      traceparent,
      signal,
      deadline: performance.now() + timeoutMs,
    });
    return {
      plan,
      async generate(signal) {
        let generated: Generated | undefined;
        // With an `Idempotency-Key` the work goes on when the caller has left.
        const leave = memory.keep();
        let release: (() => void) | undefined;
        try {
          release = await memory.cover(bytesOf(plan), signal);
          generated = await generator.generate(plan, callWith(signal), options);
          note({ provider: generated.provider, model: generated.model });
          return generated;
        } finally {
          release?.();
          leave();
          count(generated);
        }
      },
      async *stream(signal) {
        let generated: Generated | undefined;
        let spent: Usage | undefined;
        // With an `Idempotency-Key` the work goes on when the caller has left.
        const leave = memory.keep();
        let release: (() => void) | undefined;
        try {
          release = await memory.cover(bytesOf(plan), signal);
          const onLeft = (usage: Usage): void => {
            spent = usage;
          };
          for await (const event of generator.stream(plan, { ...callWith(signal), onLeft }, options)) {
            if (event.type === 'start') note({ provider: event.provider, model: event.model });
            if (event.type === 'finish') generated = event.generated;
            yield event;
          }
        } catch (error) {
          if (error instanceof ProblemError) spent = error.extensions.usage;
          throw error;
        } finally {
          release?.();
          leave();
          count(generated, spent);
        }
      },
    };
  };
}

/** Makes neighbouring texts of a stream one event. @returns undefined for other events */
export function joinTexts(one: GeneratedEvent, next: GeneratedEvent): GeneratedEvent | undefined {
  if (one.type !== 'text' || next.type !== 'text') return undefined;
  return { type: 'text', delta: one.delta + next.delta };
}
