import type { CallCost, NanoDollars } from '../../base/runtime/money.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { AnswerChecker } from '../../base/json-schema/answer-checker.ts';
import { inWords } from '../../base/json-schema/mistake-words.ts';
import { defined } from '../../base/runtime/objects.ts';
import { noArgumentObject } from '../../models/call/failures.ts';
import {
  callsOf,
  hasArgumentObject,
  isCut,
  textOf,
  type AnswerForm,
  type CallOptions,
  type GenerateEvent,
  type GenerateResult,
} from '../../models/language-model.ts';
import { isListed } from '../../models/provider.ts';
import type { CallObserver } from './call-observer.ts';
import type { Target } from './plan.ts';

/** What a target answered, and how long it took. */
export interface TargetAnswer {
  /** If it was checked, with the value of its JSON. */
  readonly result: GenerateResult;
  /** From the first attempt to the end of the last one, in whole milliseconds. */
  readonly latencyMs: number;
  /** Undefined if it is unknown. */
  readonly cost: CallCost | undefined;
}

export interface CallTargetDependencies {
  readonly metrics: Pick<CallObserver, 'observeProviderCall'>;
  readonly checker: Pick<AnswerChecker, 'check'>;
}

/** An event of an answer; the last one has the whole answer. */
export type TargetEvent =
  | Exclude<GenerateEvent, { type: 'finish' }>
  | { readonly type: 'finish'; readonly answer: TargetAnswer };

/** How an answer is wanted. */
export interface TargetForm extends AnswerForm {
  /** Whether the text of a JSON answer has to be JSON that matches its schema. */
  readonly isChecked: boolean;
}

/**
 * Calls a provider, checks its answer, and records duration and outcome. A call that its caller has left counts as
 * `canceled`.
 *
 * @throws {ProblemError} provider-*
 * @throws The reason of `call.signal` when that is aborted.
 */
export async function* callTarget(
  target: Target,
  call: CallOptions,
  wanted: TargetForm,
  dependencies: CallTargetDependencies,
): AsyncGenerator<TargetEvent, void, void> {
  const { signal } = call;
  const measured = measure(target, dependencies);
  const isOriginal = target.request.original !== undefined;
  const form = isOriginal ? { ...wanted, needsArgumentObjects: false } : wanted;
  const check = checkOf(target, call, form, dependencies.checker);
  let outcome = 'canceled';
  try {
    for await (const event of target.provider.answer(target.request, measured.watching(call, check), form)) {
      if (event.type !== 'finish') {
        yield event;
        continue;
      }
      outcome = 'succeeded';
      yield { type: 'finish', answer: { result: event.result, ...measured.answered() } };
    }
  } catch (error) {
    outcome = error instanceof ProblemError ? error.type : signal.aborted ? 'canceled' : 'internal-error';
    throw error;
  } finally {
    measured.ended(outcome);
  }
}

/** The check of an answer, as far as its form has conditions; undefined without any. */
function checkOf(
  target: Target,
  call: CallOptions,
  { isChecked, needsArgumentObjects }: TargetForm,
  checker: Pick<AnswerChecker, 'check'>,
): CallOptions['check'] {
  const checkJson = isChecked ? jsonCheckOf(target, call, checker) : undefined;
  if (!needsArgumentObjects) return checkJson;
  return async (answered, signal) => {
    const mayBeCut = isCut(answered) || answered.refusal !== undefined;
    const result = mayBeCut ? withoutCutCall(answered) : answered;
    if (!callsOf(result).every(hasArgumentObject)) return { mistake: noArgumentObject };
    return (await checkJson?.(result, signal)) ?? { result };
  };
}

/** Leaves out the last call if the answer was cut in its arguments. */
function withoutCutCall(result: GenerateResult): GenerateResult {
  const last = result.content.at(-1);
  if (last?.type !== 'tool-call' || hasArgumentObject(last)) return result;
  return { ...result, content: result.content.slice(0, -1) };
}

/**
 * The check of an answer that has to be JSON; undefined for others. Answers that ended early, refusals, and answers with
 * calls of tools are taken as they are.
 */
function jsonCheckOf(
  { request, answerFormat = request.responseFormat }: Target,
  { principal, background = false }: CallOptions,
  checker: Pick<AnswerChecker, 'check'>,
): CallOptions['check'] {
  if (answerFormat?.type !== 'json') return undefined;
  const { schema } = answerFormat;
  return async (result, signal) => {
    if (result.finishReason !== 'stop' && result.finishReason !== 'other') return { result };
    const whose = { key: principal.family, background, signal };
    const checked = await checker.check({ schema, text: textOf(result) }, whose);
    if (checked.status === 'invalid') return { mistake: `The provider's answer ${inWords(checked.mistake)}.` };
    const { object, status } = checked;
    return { result: { ...result, ...defined({ object }), ...(status === 'unverified' && { isUnverified: true }) } };
  };
}

/** Begins to measure a call. */
function measure(
  { provider, request }: Target,
  { metrics }: CallTargetDependencies,
): {
  /** The call, with its attempts noted. */
  watching(call: CallOptions, check: CallOptions['check']): CallOptions;
  answered(): Pick<TargetAnswer, 'latencyMs' | 'cost'>;
  ended(outcome: string): void;
} {
  const started = performance.now();
  let attempts = 0;
  /** Of the last one. */
  let cost: CallCost | undefined;
  /** Of all attempts; undefined after one whose cost is unknown. */
  let total: NanoDollars | undefined = 0n;
  const tokens: { inputTokens?: number; outputTokens?: number } = {};
  const onEnd: NonNullable<CallOptions['onEnd']> = ({ usage = {} }, one) => {
    attempts += 1;
    cost = one;
    total = one === undefined || total === undefined ? undefined : total + one.amount;
    for (const name of ['inputTokens', 'outputTokens'] as const) {
      const count = usage[name];
      if (count !== undefined) tokens[name] = (tokens[name] ?? 0) + count;
    }
  };
  return {
    watching: (call, check) => ({
      ...call,
      ...(check && { check }),
      onEnd(end, one) {
        onEnd(end, one);
        call.onEnd?.(end, one);
      },
      // That of a shared call changes.
      get deadline() {
        return call.deadline;
      },
    }),
    answered: () => ({ latencyMs: Math.round(performance.now() - started), cost }),
    ended(outcome) {
      const { model } = request;
      const label = isListed(provider, model) ? model : 'other';
      const spent = attempts === 0 ? undefined : { ...tokens, model: label, cost: total };
      metrics.observeProviderCall(provider.id, outcome, (performance.now() - started) / 1000, spent);
    },
  };
}
