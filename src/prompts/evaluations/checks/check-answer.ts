/**
 * The checks of an answer. Their types have the names and the meaning of promptfoo
 * (https://promptfoo.dev/docs/configuration/expected-outputs/deterministic/), except that nothing passes because something
 * is missing: a part of the answer, a variable, its cost, or the time to find out.
 */
import { defined } from '../../../base/runtime/objects.ts';
import { MissingVariablesError, RenderedPromptTooLargeError } from '../../templates/template-errors.ts';
import type { CheckedAnswer, CheckInput, CheckRuntime, Finding, Part } from './check-type.ts';
import { typeOf, type Check } from './check-types.ts';
import { partAt, wholeAnswer } from './part.ts';
import { renderValue, type CheckedCase } from './render-value.ts';

export type { AskJudge, CheckedAnswer, CheckRuntime, Judgement } from './check-type.ts';
export type { Check } from './check-types.ts';
export type { CheckedCase } from './render-value.ts';

/** What became of a check. */
export interface CheckResult {
  readonly type: Check['type'];
  readonly metric?: string;
  readonly pass: boolean;
  /** 1 if it passed, else 0. */
  readonly score: number;
  /** A sentence. */
  readonly reason: string;
  /** It could not be found out in time whether it passes. */
  readonly isUndecided?: true;
  /** A judge said it. */
  readonly judged?: true;
}

/** What became of all checks of an answer. */
export interface CheckedCaseResult {
  readonly pass: boolean;
  /** The mean of the checks by their weights. */
  readonly score: number;
  readonly results: readonly CheckResult[];
}

/**
 * Checks an answer to a case. It passes if all checks do; without any it does not.
 *
 * @throws The reason of the signal when that is aborted.
 */
export async function checkAnswer(
  checks: readonly Check[],
  answer: CheckedAnswer,
  of: CheckedCase,
  runtime: CheckRuntime,
  signal?: AbortSignal,
): Promise<CheckedCaseResult> {
  const whole = wholeAnswer(answer.text, runtime);
  const results: CheckResult[] = [];
  let [reached, possible] = [0, 0];
  for (const check of checks) {
    signal?.throwIfAborted();
    await runtime.turns();
    const { type, metric, weight = 1 } = check;
    const { holds, reason, isUndecided, judged } = await find(check, whole, of, { answer, runtime });
    const pass = holds === !type.startsWith('not-');
    reached += pass ? weight : 0;
    possible += weight;
    results.push(defined({ type, metric, pass, score: pass ? 1 : 0, reason, isUndecided, judged }));
  }
  // What the signal ends is undecided.
  signal?.throwIfAborted();
  const pass = results.length > 0 && results.every((result) => result.pass);
  return { pass, score: possible === 0 ? 0 : reached / possible, results };
}

async function find(
  { type, value, threshold, judge, at }: Check,
  whole: Part,
  of: CheckedCase,
  more: Pick<CheckInput, 'answer' | 'runtime'>,
): Promise<Finding> {
  const part = at === undefined ? whole : await partAt(whole, at);
  if ('reason' in part) return part;
  let rendered: unknown;
  try {
    rendered = renderValue(value, of);
  } catch (error) {
    if (error instanceof MissingVariablesError) return { reason: error.message };
    if (error instanceof RenderedPromptTooLargeError) return { reason: 'The value of the check is too long.' };
    throw error;
  }
  return await typeOf(type).find({ part, value: rendered, threshold, judge, of, ...more });
}
