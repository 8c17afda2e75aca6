import type { CallCost, NanoDollars } from '../../base/runtime/money.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { AnswerChecker, AnswerMistake } from '../../base/json-schema/answer-checker.ts';
import {
  textOf,
  type AnswerForm,
  type CallOptions,
  type GenerateEvent,
  type GenerateResult,
  type Usage,
} from '../../models/language-model.ts';
import type { CallObserver } from './call-observer.ts';
import type { Target } from './plan.ts';

/** An answer with the value of its JSON. */
export interface CheckedAnswer {
  readonly result: GenerateResult;
  /** The answer could not be checked in time. It has an object if it is JSON that may not match its schema. */
  readonly isUnverified?: true;
}

/** What a target answered, and how long it took. */
export interface TargetAnswer extends CheckedAnswer {
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
  form: TargetForm,
  dependencies: CallTargetDependencies,
): AsyncGenerator<TargetEvent, void, void> {
  const measured = measure(target, dependencies);
  let usage: Usage | undefined;
  let outcome = 'canceled';
  const watched = measured.watching(call, (spent) => {
    usage = spent;
  });
  try {
    for await (const event of target.provider.answer(target.request, watched, form)) {
      if (event.type !== 'finish') {
        yield event;
        continue;
      }
      ({ usage } = event.result);
      const checked = await checkedAnswer(target, event.result, call, form.isChecked, dependencies.checker);
      outcome = 'ok';
      yield { type: 'finish', answer: { ...checked, ...measured.answered() } };
    }
  } catch (error) {
    outcome = outcomeOf(error, call.signal);
    usage = usageOf(error) ?? usage;
    throw error;
  } finally {
    measured.ended(outcome, usage);
  }
}

/** The provider's answer is not JSON, or does not match its schema. Another one to the same request may be right. */
export class UnfitAnswerError extends ProblemError {}

/**
 * Reads an answer that has to be JSON, and checks it. Answers that ended early, or with calls of tools, are returned as
 * they are.
 */
async function checkedAnswer(
  { provider, request, answerFormat = request.responseFormat }: Target,
  result: GenerateResult,
  call: CallOptions,
  checkJson: boolean,
  checker: Pick<AnswerChecker, 'check'>,
): Promise<CheckedAnswer> {
  if (!checkJson || answerFormat?.type !== 'json' || result.finishReason !== 'stop') return { result };
  const checked = await checker.check({ schema: answerFormat.schema, text: textOf(result) }, call.principal.family);
  if (checked.status === 'valid') return { result: { ...result, object: checked.object } };
  if (checked.status === 'unverified') {
    const { object } = checked;
    return { result: { ...result, ...(object !== undefined && { object }) }, isUnverified: true };
  }
  const { usage } = result;
  const { model } = request;
  call.onFailedAttempt?.({
    provider: provider.id,
    model,
    usage,
    problem: 'provider-bad-answer',
    may_be_billed: true,
  });
  const unfit = new UnfitAnswerError('provider-bad-answer', {
    detail: `The provider's answer ${inWords(checked.mistake)}.`,
    extensions: { provider: provider.id, model, retryable: false, usage: { ...usage } },
  });
  call.attemptLog?.refuse(unfit, result);
  throw unfit;
}

/** Without any text of the answer. */
function inWords(mistake: AnswerMistake): string {
  switch (mistake.type) {
    case 'not-json': {
      const { after, length } = mistake;
      if (length === 0) return 'is not JSON: it is empty';
      return after < length
        ? `is not JSON at character ${after + 1}`
        : `is not JSON: it ends too early (${length} characters)`;
    }
    case 'too-deep':
      return `is nested deeper than ${mistake.limit} levels`;
    case 'mismatch': {
      const { place, keyword, reason } = mistake;
      const wanted = reason === undefined ? keyword : `${keyword}: ${reason}`;
      return `does not match the schema at ${place === '' ? 'its top' : place} (${wanted})`;
    }
  }
}

/** Begins to measure a call. */
function measure(
  { provider, request }: Target,
  { metrics }: CallTargetDependencies,
): {
  /** The call, with its costs noted. @param onLeft called with the usage of a call that its caller leaves */
  watching(call: CallOptions, onLeft: (usage: Usage) => void): CallOptions;
  answered(): Pick<TargetAnswer, 'latencyMs' | 'cost'>;
  ended(outcome: string, usage: Usage | undefined): void;
} {
  const started = performance.now();
  let attempts = 0;
  /** Of the last one. */
  let cost: CallCost | undefined;
  /** Of all attempts; undefined after one whose cost is unknown. */
  let total: NanoDollars | undefined = 0n;
  const onCost = (one: CallCost | undefined): void => {
    attempts += 1;
    cost = one;
    total = one === undefined || total === undefined ? undefined : total + one.amount;
  };
  return {
    watching: (call, onLeft) => ({
      ...call,
      onCost,
      onLeft,
      // That of a shared call changes.
      get deadline() {
        return call.deadline;
      },
    }),
    answered: () => ({ latencyMs: Math.round(performance.now() - started), cost }),
    ended(outcome, usage) {
      const { model } = request;
      const label = provider.models.includes(model) ? model : 'other';
      const spent = attempts === 0 ? undefined : { ...usage, model: label, cost: total };
      metrics.observeProviderCall(provider.id, outcome, (performance.now() - started) / 1000, spent);
    },
  };
}

function outcomeOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof ProblemError) return error.type;
  return signal.aborted ? 'canceled' : 'internal-error';
}

function usageOf(error: unknown): Usage | undefined {
  return error instanceof ProblemError ? error.extensions.usage : undefined;
}
