import type { Principal } from '../../base/limits/principal.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { Invoked, InvocationLog } from '../../accounting/invocations/invocation-log.ts';
import type { InvocationEnd } from '../../accounting/invocations/invocation-record.ts';
import type { RequestMemory } from '../../base/limits/memory-budget.ts';
import type { AnswerForm, CallOptions, OriginalPiece } from '../../models/language-model.ts';
import { noCache, type CachePolicy } from './answers.ts';
import { withAttempts } from './attempts.ts';
import type { Generated, GeneratedEvent, Generator } from './generator.ts';
import { withAssumedOutput } from './output-limit.ts';
import type { Known, Plan } from './plan.ts';
import { bytesOf } from './request-size.ts';

/** What is needed of a request for an answer that a caller waits for. */
export interface Invoker {
  readonly principal: Principal;
  /** For the log. */
  readonly requestId: string;
  /** The memory of the request, which has enough for its body. */
  readonly memory: RequestMemory;
  /** The caller's trace context, which is passed on to the providers. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  /** Called as soon as something is known, and again when another target answers. */
  note(
    known:
      | { readonly invocation: string }
      | Pick<Extract<Known, { prompt: string }>, 'prompt' | 'version'>
      | Extract<Known, { provider: string }>,
  ): void;
  /** Adds a header field to the answer, also to a problem. */
  addHeader(name: string, value: string): void;
}

export interface InvocationTerms
  extends
    Pick<Invoked, 'operation' | 'isStreamed' | 'tags'>,
    Pick<AnswerForm, 'showsThinking' | 'needsArgumentObjects'> {
  /** Milliseconds from the start of the calls that the providers may take; for a stream, to its first content. */
  readonly timeoutMs: number;
  readonly cache?: CachePolicy;
}

/** A request that was checked. Nothing was spent. */
export interface Invocation<Planned extends Plan> {
  readonly id: string;
  readonly plan: Planned;
  /**
   * Answers it; call it once. The last event has the whole answer. If it is streamed, the pieces come before, and leaving
   * the loop cancels the call.
   * @param signal aborted when nobody needs the answer any more
   * @throws {ProblemError} too-much-in-progress, overloaded; not-cached; provider-*
   * @throws The reason of `signal` when that is aborted.
   */
  readonly answer: (signal: AbortSignal) => AsyncGenerator<GeneratedEvent, void, void>;
}

/**
 * Plans an invocation. It has a record, also if it fails, and its id is a header field of the answer. It reserves the
 * memory that its calls need.
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
  readonly invocations: InvocationLog;
}

/** Of the answer, for an invocation. */
const idHeader = 'X-Invocation-Id';

export function createInvocations({ generator, invocations }: InvocationDependencies): PrepareInvocation {
  return async (invoker, makePlan, { timeoutMs, cache = noCache, operation, tags, ...wanted }) => {
    const { isStreamed } = wanted;
    const { principal, requestId, traceparent, tracestate } = invoker;
    const mayShare = cache.store || cache.onlyIfCached;
    const record = invocations.begin({ operation, principal, requestId, traceparent, isStreamed, tags, mayShare });
    invoker.addHeader(idHeader, record.id);
    invoker.note({ invocation: record.id });
    const note = (known: Known): void => {
      record.note(known);
      invoker.note('prompt' in known ? { prompt: known.prompt, version: known.version } : known);
    };
    const plan = await makePlan(note)
      .then(async (made) => {
        const assumed = await withAssumedOutput(made, record.assumedOutputTokens);
        record.assumed(assumed.assumedOutputTokens);
        return assumed;
      })
      .catch((error: unknown) => {
        record.end({ error, isCanceled: false });
        throw error;
      });
    const callWith = (signal: AbortSignal): CallOptions => ({
      principal,
      requestId,
      traceparent,
      tracestate,
      attemptLog: record,
      signal,
      deadline: performance.now() + timeoutMs,
    });
    return {
      id: record.id,
      plan,
      async *answer(signal) {
        let end: InvocationEnd = canceled;
        // With an `Idempotency-Key` the work goes on when the caller has left.
        const leave = invoker.memory.keep();
        let release: (() => void) | undefined;
        try {
          record.asked(plan.targets[0]?.request, plan.variables, plan.promptMessages);
          release = await invoker.memory.cover(bytesOf(plan), signal);
          for await (const event of generator.answer(plan, callWith(signal), { ...wanted, cache })) {
            if (event.type === 'start') {
              if (isStreamed) record.firstContent();
              record.note({ provider: event.provider, model: event.model });
              invoker.note({ provider: event.provider, model: event.model });
            }
            if (event.type === 'finish') end = answered(event.generated);
            else if (event.type !== 'start') record.received(event);
            yield event;
          }
        } catch (error) {
          end = { error, isCanceled: signal.aborted };
          throw isInterruption(error) ? withAttempts(error, record.calls()) : error;
        } finally {
          // A reader that was waiting for its caller leaves without an error.
          if (end === canceled && isInterruption(signal.reason)) end = { error: signal.reason, isCanceled: true };
          release?.();
          leave();
          record.end(end);
        }
      },
    };
  };
}

/** Whether the process stopped and had no more time. */
function isInterruption(error: unknown): error is ProblemError & { readonly type: 'interrupted' } {
  return error instanceof ProblemError && error.type === 'interrupted';
}

/** Of a stream that its reader leaves. */
const canceled: InvocationEnd = { error: undefined, isCanceled: true };

/** The end of an invocation that has an answer. */
export function answered({ provider, model, result, age }: Generated): InvocationEnd {
  return { answer: { provider, model, finishReason: result.finishReason, isCached: age !== undefined, result } };
}

/** The events of an invocation as the source of a streamed answer. @param encoder creates what writes them */
export function eventSource<Encoder>(
  { answer }: Invocation<Plan>,
  encoder: () => Encoder,
): {
  open: typeof answer;
  isLast: (event: GeneratedEvent) => boolean;
  encoder: () => Encoder;
  merge: typeof joinPieces;
} {
  return { open: answer, isLast: ({ type }) => type === 'finish', encoder, merge: joinPieces };
}

/** Makes neighbouring pieces of a part one event. @returns undefined for other events */
function joinPieces(one: GeneratedEvent, next: GeneratedEvent): GeneratedEvent | undefined {
  if (one.type === 'original' && next.type === 'original') return joinOriginals(one, next);
  if ((one.type !== 'text' && one.type !== 'thinking') || next.type !== one.type) return undefined;
  return { type: one.type, delta: one.delta + next.delta };
}

/** Their text is made anew when it is written: `data` is that of the first. */
function joinOriginals({ added: first, ...one }: OriginalPiece, { added }: OriginalPiece): OriginalPiece | undefined {
  if (first?.kind === undefined || first.kind !== added?.kind || first.index !== added.index) return undefined;
  return { ...one, data: '', added: { ...first, text: first.text + added.text } };
}

export type Answering = Pick<Generated, 'provider' | 'model' | 'age'>;

/** Who answers: as the answer or the first event of its stream says, else the target that is called first. */
export function answeringIn({ targets: [selected] }: Plan, first: Answering | GeneratedEvent | undefined): Answering {
  if (first !== undefined && 'provider' in first) return first;
  return { provider: selected?.provider.id ?? '', model: selected?.request.model ?? '', age: undefined };
}
