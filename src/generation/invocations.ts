import { ProblemError } from '../errors/problem-error.ts';
import type { RequestMemory } from '../limits/memory-budget.ts';
import type { CallOptions, Usage } from '../providers/language-model.ts';
import type { Statistics } from '../statistics/statistics.ts';
import { noCache, type CachePolicy } from './answers.ts';
import type { Generated, GeneratedEvent, Generator } from './generator.ts';
import type { Known, Plan } from './plan.ts';
import { bytesOf } from './request-size.ts';

/** What is needed of a request for an answer that a caller waits for. */
export interface Invoker {
  readonly principal: { readonly keyId: string };
  /** For the log. */
  readonly requestId: string;
  /** The memory of the request, which has enough for its body. */
  readonly memory: RequestMemory;
  /** The caller's trace context, which is passed on to the providers. */
  readonly traceparent: string | undefined;
  /** Called as soon as something is known, and again when another target answers. */
  note(known: Known): void;
}

export interface InvocationTerms {
  /** Milliseconds from the start of the calls that the providers may take; for a stream, to its first content. */
  readonly timeoutMs: number;
  readonly cache?: CachePolicy;
}

/** A request that was checked. Nothing was spent. Call one of both methods, once. */
export interface Invocation<Planned extends Plan> {
  readonly plan: Planned;
  /**
   * @param signal aborted when nobody needs the answer any more
   * @throws {ProblemError} too-much-in-progress, overloaded; not-cached; provider-*
   * @throws The reason of `signal` when that is aborted.
   */
  readonly generate: (signal: AbortSignal) => Promise<Generated>;
  /** The same for an answer that is streamed. Leaving the loop cancels the call. */
  readonly stream: (signal: AbortSignal) => AsyncGenerator<GeneratedEvent, void, void>;
}

/**
 * Plans an invocation. One of a stored prompt is counted in its statistics, also if it fails, and an invocation reserves
 * the memory that its calls need.
 *
 * @throws {ProblemError} Those of `plan`.
 */
export type PrepareInvocation = <Planned extends Plan>(
  invoker: Invoker,
  plan: (note: (known: Known) => void) => Promise<Planned>,
  terms: InvocationTerms,
) => Promise<Invocation<Planned>>;

export interface InvocationDependencies {
  readonly generator: Generator;
  readonly statistics: Pick<Statistics, 'invoked'>;
}

export function createInvocations({ generator, statistics }: InvocationDependencies): PrepareInvocation {
  return async (invoker, makePlan, { timeoutMs, cache = noCache }) => {
    let found: Extract<Known, { readonly prompt: string }> | undefined;
    const count = (generated: Generated | undefined, spent?: Usage): void => {
      if (found !== undefined) statistics.invoked(found.prompt, found.version, generated, spent);
    };
    const plan = await makePlan((known) => {
      if ('prompt' in known) found = known;
      invoker.note(known);
    }).catch((error: unknown) => {
      count(undefined);
      throw error;
    });
    const callWith = (signal: AbortSignal, onLeft?: (usage: Usage) => void): CallOptions => ({
      keyId: invoker.principal.keyId,
      requestId: invoker.requestId,
      traceparent: invoker.traceparent,
      signal,
      deadline: performance.now() + timeoutMs,
      ...(onLeft && { onLeft }),
    });
    return {
      plan,
      async generate(signal) {
        let generated: Generated | undefined;
        let spent: Usage | undefined;
        // With an `Idempotency-Key` the work goes on when the caller has left.
        const leave = invoker.memory.keep();
        let release: (() => void) | undefined;
        try {
          release = await invoker.memory.cover(bytesOf(plan), signal);
          generated = await generator.generate(plan, callWith(signal), cache);
          invoker.note({ provider: generated.provider, model: generated.model });
          return generated;
        } catch (error) {
          spent = spentBy(error, signal);
          throw error;
        } finally {
          release?.();
          leave();
          count(generated, spent);
        }
      },
      async *stream(signal) {
        let generated: Generated | undefined;
        let spent: Usage | undefined;
        const leave = invoker.memory.keep();
        let release: (() => void) | undefined;
        try {
          release = await invoker.memory.cover(bytesOf(plan), signal);
          const call = callWith(signal, (usage) => {
            spent = usage;
          });
          for await (const event of generator.stream(plan, call, cache)) {
            if (event.type === 'start') invoker.note({ provider: event.provider, model: event.model });
            if (event.type === 'finish') generated = event.generated;
            yield event;
          }
        } catch (error) {
          spent ??= spentBy(error, signal);
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

/** What a failed invocation used; undefined if no provider can charge for it. */
function spentBy(error: unknown, signal: AbortSignal): Usage | undefined {
  if (!(error instanceof ProblemError)) return signal.aborted ? {} : undefined;
  const { usage, attempts = [] } = error.extensions;
  return usage ?? (attempts.some(({ may_be_billed }) => may_be_billed) ? {} : undefined);
}

/** The events of an invocation as the source of a streamed answer. @param encoder creates what writes them */
export function eventSource<Encoder>(
  { stream }: Invocation<Plan>,
  encoder: () => Encoder,
): {
  open: typeof stream;
  isLast: (event: GeneratedEvent) => boolean;
  encoder: () => Encoder;
  merge: typeof joinTexts;
} {
  return { open: stream, isLast: ({ type }) => type === 'finish', encoder, merge: joinTexts };
}

/** Makes neighbouring texts of a stream one event. @returns undefined for other events */
function joinTexts(one: GeneratedEvent, next: GeneratedEvent): GeneratedEvent | undefined {
  if (one.type !== 'text' || next.type !== 'text') return undefined;
  return { type: 'text', delta: one.delta + next.delta };
}

export type Answering = Pick<Generated, 'provider' | 'model' | 'age'>;

/** Who answers: as the answer or the first event of its stream says, else the target that is called first. */
export function answeringIn({ targets: [selected] }: Plan, first: Answering | GeneratedEvent | undefined): Answering {
  if (first !== undefined && 'provider' in first) return first;
  return { provider: selected?.provider.id ?? '', model: selected?.request.model ?? '', age: undefined };
}
