import type { Logger } from 'pino';
import { ProblemError, saidByProvider } from '../../base/errors/problem-error.ts';
import { isRefusal } from '../../base/errors/refusal.ts';
import { scrub } from '../../base/runtime/scrub.ts';
import { mayFallBack } from '../../models/call/failures.ts';
import {
  eventsOf,
  type AnswerForm,
  type CallOptions,
  type FailedAttempt,
  type GenerateEvent,
  type ThinkingPart,
} from '../../models/language-model.ts';
import type { AnswerChecker } from '../../base/json-schema/answer-checker.ts';
import type { MemoryBudget } from '../../base/limits/memory-budget.ts';
import { createAnswers, noCache, type Answer, type CachePolicy } from './answers.ts';
import { withAttempts } from './attempts.ts';
import type { CallObserver } from './call-observer.ts';
import { callTarget, type TargetEvent } from './call-target.ts';
import { createGatheredMemory } from './gathered-memory.ts';
import type { Plan, Target } from './plan.ts';
import type { ResponseCache } from './response-cache.ts';

/** An answer, and who gave it. */
export interface Generated extends Answer {
  readonly provider: string;
  readonly model: string;
  /** From the first call to the answer, in whole milliseconds; for an answer from the cache, of reading it. */
  readonly latencyMs: number;
  /** The calls that failed before. */
  readonly attempts: readonly FailedAttempt[];
}

/** An answer while it comes: `start`, the pieces, `finish`. */
export type GeneratedEvent =
  /** Who answers. It comes together with the first piece. */
  | ({ readonly type: 'start' } & Pick<Generated, 'provider' | 'model' | 'attempts' | 'age'>)
  | Exclude<GenerateEvent, { readonly type: 'finish' }>
  | { readonly type: 'finish'; readonly generated: Generated };

/** Calls the targets of a plan, one after the other, until one answers. */
export interface Generator {
  /**
   * Calls the next target if one fails for a reason that another may not share. A target is called once while there is
   * another, and the last one up to three times, so that there are at most six calls. Of these, `plan.retries` can follow
   * a call that may have been billed. Each target can use the time that is left divided by the targets that are left.
   *
   * The last event has the whole answer. If it is streamed, the pieces come before: then another target is called only
   * before the first event, and calls in progress are not shared. Leaving the loop cancels the call.
   *
   * @throws {ProblemError} not-cached; provider-* of the target that failed last, with all calls in `attempts`, and after
   *   the first event with `usage` as far as it is known
   * @throws The reason of `call.signal` when that is aborted.
   */
  answer(plan: Plan, call: CallOptions, form: GeneratedForm): AsyncGenerator<GeneratedEvent, void, void>;
}

/** How an answer is wanted. */
export interface GeneratedForm extends AnswerForm {
  /** Use of the answer cache; without it, nothing is cached. */
  readonly cache?: CachePolicy | undefined;
}

export interface GeneratorDependencies {
  readonly cache: ResponseCache;
  readonly checker: Pick<AnswerChecker, 'check'>;
  readonly metrics: CallObserver;
  readonly log: Logger;
  readonly memory: MemoryBudget;
}

/** Calls to providers for one request. */
const mostCalls = 6;
/** Calls to the last target. */
const mostCallsOfTarget = 3;

export function createGenerator(dependencies: GeneratorDependencies): Generator {
  const { log, memory } = dependencies;
  const answers = createAnswers(dependencies);

  /** @param use calls a target; returns what it answers, or the begin of it */
  const firstAnswer = async <Result>(
    { targets, retries = 0 }: Plan,
    call: CallOptions,
    attempts: FailedAttempt[],
    use: (target: Target, call: CallOptions) => Promise<Result>,
  ): Promise<{ target: Target; began: number; result: Result }> => {
    const { maxAttempts = mostCallsOfTarget } = call;
    let last: ProblemError | undefined;
    for (const [index, target] of targets.entries()) {
      const left = targets.length - index;
      const now = performance.now();
      const targetCall = {
        ...call,
        retries,
        deadline: now + (call.deadline - now) / left,
        maxAttempts: left > 1 ? 1 : Math.min(maxAttempts, mostCalls - index),
        onFailedAttempt(attempt: FailedAttempt) {
          attempts.push(attempt);
          call.onFailedAttempt?.(attempt);
        },
      };
      try {
        return { target, began: now, result: await use(target, targetCall) };
      } catch (error) {
        call.signal.throwIfAborted();
        if (!(error instanceof ProblemError)) throw error;
        if (last !== undefined && isRefusal(error)) throw withAttempts(last, attempts);
        last = error;
        const isNext =
          left > 1 && (error.type === 'not-cached' || mayFallBack(error)) && performance.now() < call.deadline;
        if (!isNext) throw withAttempts(error, attempts);
        if (error.type !== 'not-cached') log.warn(fieldsOf(error, target, call), 'the next provider is called');
      }
    }
    throw new Error('A plan has no target.');
  };

  return {
    async *answer(plan, call, { cache: policy = noCache, ...wanted }) {
      const { isStreamed } = wanted;
      const form = { ...wanted, isChecked: plan.checksAnswers };
      const started = performance.now();
      const attempts: FailedAttempt[] = [];
      const { target, began, result } = await firstAnswer(plan, call, attempts, async (candidate, targetCall) => {
        // Only whole answers are shared.
        const found = isStreamed
          ? answers.find(candidate, policy)
          : await answers.get(candidate, targetCall, policy, form);
        if (found !== undefined) return { age: found.age, ...(await begin(eventsOfAnswer(found, isStreamed))) };
        const kept = { ...form, isChecked: form.isChecked || policy.store };
        return { age: undefined, ...(await begin(callTarget(candidate, targetCall, kept, dependencies))) };
      });
      const { age, first, rest } = result;
      const gathered = createGatheredMemory(memory, call.principal.family);
      try {
        // The answer itself can become a failed attempt later.
        const before = [...attempts];
        yield { type: 'start', provider: target.provider.id, model: target.request.model, attempts: before, age };
        for (let next = first; next.done !== true; next = await rest.next()) {
          const event = next.value;
          if (event.type !== 'finish') {
            if (age === undefined) gathered.add(lengthOf(event));
            yield event;
            continue;
          }
          if (isStreamed && age === undefined) answers.keep(target, event.answer.result, policy);
          const generated = toGenerated(target, { ...event.answer, age }, attempts, began - started);
          yield { type: 'finish', generated };
        }
      } catch (error) {
        throw error instanceof ProblemError ? withAttempts(error, attempts) : error;
      } finally {
        gathered.release();
        await rest.return();
      }
    },
  };
}

function lengthOf(event: Exclude<TargetEvent, { type: 'finish' }>): number {
  switch (event.type) {
    case 'text':
    case 'refusal':
    case 'thinking':
      return event.delta.length;
    case 'tool-call':
      return event.arguments.length + lengthOfMetadata(event);
    case 'thinking-end':
      return lengthOfMetadata(event);
    case 'original':
      // What it adds comes again, and that is kept.
      return event.added === undefined ? event.data.length : 0;
  }
}

function lengthOfMetadata({ provider_metadata }: Pick<ThinkingPart, 'provider_metadata'>): number {
  return provider_metadata === undefined ? 0 : JSON.stringify(provider_metadata).length;
}

type Events = AsyncGenerator<TargetEvent, void, void>;

async function begin(rest: Events): Promise<{ first: IteratorResult<TargetEvent, void>; rest: Events }> {
  return { first: await rest.next(), rest };
}

async function* eventsOfAnswer(answer: Answer, isStreamed: boolean): Events {
  for (const event of eventsOf(answer.result)) {
    if (event.type === 'finish') yield { type: 'finish', answer };
    else if (isStreamed) yield event;
  }
}

function toGenerated(
  { provider, request }: Target,
  answer: Answer,
  attempts: readonly FailedAttempt[],
  before: number,
): Generated {
  const latencyMs = Math.round(before) + answer.latencyMs;
  return { ...answer, latencyMs, provider: provider.id, model: request.model, attempts };
}

function fieldsOf(
  problem: ProblemError,
  { provider, request }: Target,
  { principal, requestId, traceparent, attemptLog }: CallOptions,
): object {
  return {
    ...(requestId !== undefined && { request_id: requestId }),
    ...(attemptLog !== undefined && { invocation_id: attemptLog.id }),
    problem: problem.type,
    provider: provider.id,
    [`${principal.kind ?? 'key'}_id`]: principal.id,
    // Callers choose the names of models.
    model: scrub(request.model),
    ...saidByProvider(problem),
    ...(traceparent !== undefined && { traceparent }),
    ...(problem.cause !== undefined && { error: problem }),
  };
}
