import { ProblemError } from '../errors/problem-error.ts';
import type { Metrics, SpentTokens } from '../observability/metrics.ts';
import type { CallOptions, GenerateEvent, GenerateResult, Usage } from '../providers/language-model.ts';
import type { AnswerChecker } from '../json-schema/answer-checker.ts';
import { checkJsonAnswer, type CheckedAnswer } from './json-answer.ts';
import type { Target } from './plan.ts';

/** What a target answered, and how long it took. */
export interface TargetAnswer extends CheckedAnswer {
  /** From the first attempt to the end of the last one, in whole milliseconds. */
  readonly latencyMs: number;
}

export interface CallTargetDependencies {
  readonly metrics: Pick<Metrics, 'observeProviderCall'>;
  readonly checker: Pick<AnswerChecker, 'check'>;
}

/**
 * Calls a provider, checks its answer, and records duration and outcome. A call that all callers have left counts as
 * `cancelled`.
 *
 * @param checkJson whether the text of a JSON answer has to be JSON that matches its schema
 * @throws {ProblemError} provider-*
 * @throws The reason of `call.signal` when that is aborted.
 */
export async function callTarget(
  target: Target,
  call: CallOptions,
  checkJson: boolean,
  { metrics, checker }: CallTargetDependencies,
): Promise<TargetAnswer> {
  const observation = observe(target, call, metrics);
  try {
    const result = await target.provider.generate(target.request, call);
    observation.spend(result.usage);
    const checked = await checkedAnswer(target, result, call, checkJson, checker);
    return { ...checked, latencyMs: observation.milliseconds() };
  } catch (error) {
    observation.fail(error);
    throw error;
  } finally {
    observation.end();
  }
}

/** An event of an answer; the last one has the whole answer. */
export type TargetEvent =
  Exclude<GenerateEvent, { type: 'finish' }> | { readonly type: 'finish'; readonly answer: TargetAnswer };

/** The same for an answer that is streamed. */
export async function* streamTarget(
  target: Target,
  call: CallOptions,
  checkJson: boolean,
  { metrics, checker }: CallTargetDependencies,
): AsyncGenerator<TargetEvent, void, void> {
  const observation = observe(target, call, metrics);
  let hasEnded = false;
  try {
    const observed: CallOptions = {
      ...call,
      onLeft(usage) {
        observation.spend(usage);
        call.onLeft?.(usage);
      },
    };
    for await (const event of target.provider.stream(target.request, observed)) {
      if (event.type !== 'finish') {
        yield event;
        continue;
      }
      observation.spend(event.result.usage);
      const checked = await checkedAnswer(target, event.result, call, checkJson, checker);
      hasEnded = true;
      yield { type: 'finish', answer: { ...checked, latencyMs: observation.milliseconds() } };
    }
  } catch (error) {
    hasEnded = true;
    observation.fail(error);
    throw error;
  } finally {
    if (!hasEnded) observation.cancel();
    observation.end();
  }
}

/** The provider's answer is not JSON, or does not match its schema. Another one to the same request may be right. */
export class UnfitAnswerError extends ProblemError {}

async function checkedAnswer(
  { provider, request, answerFormat = request.responseFormat }: Target,
  result: GenerateResult,
  call: CallOptions,
  checkJson: boolean,
  checker: Pick<AnswerChecker, 'check'>,
): Promise<CheckedAnswer> {
  if (!checkJson) return { result };
  const checked = await checkJsonAnswer(answerFormat, result, call.keyId, checker);
  if (!('mistake' in checked)) return checked;
  const { usage } = result;
  const { model } = request;
  call.onFailedAttempt?.({
    provider: provider.id,
    model,
    usage,
    problem: 'provider-bad-answer',
    may_be_billed: true,
  });
  throw new UnfitAnswerError('provider-bad-answer', {
    detail: checked.mistake,
    extensions: { provider: provider.id, model, retryable: false, usage: { ...usage } },
  });
}

interface Observation {
  spend(usage: Usage): void;
  fail(error: unknown): void;
  cancel(): void;
  milliseconds(): number;
  end(): void;
}

function observe(
  { provider, request }: Target,
  call: CallOptions,
  metrics: Pick<Metrics, 'observeProviderCall'>,
): Observation {
  const started = performance.now();
  let outcome = 'ok';
  let spent: SpentTokens | undefined;
  const spend = (usage: Usage): void => {
    spent = { model: provider.models.includes(request.model) ? request.model : 'other', ...usage };
  };
  return {
    spend,
    fail(error) {
      if (error instanceof ProblemError) {
        outcome = error.type;
        if (error.extensions.usage !== undefined) spend(error.extensions.usage);
      } else outcome = call.signal.aborted ? 'cancelled' : 'internal-error';
    },
    cancel() {
      outcome = 'cancelled';
    },
    milliseconds: () => Math.round(performance.now() - started),
    end() {
      metrics.observeProviderCall(provider.id, outcome, (performance.now() - started) / 1000, spent);
    },
  };
}
