/** What a judge is: marks of answers that one has judged say nothing about another. */
import { hash } from 'node:crypto';
import { canonicalJson } from '../../../base/runtime/canonical-json.ts';
import type { Check } from '../checks/check-answer.ts';

/** A version of a prompt that judges, and the model that it calls. */
export interface Judging {
  /** As a check names it. */
  readonly prompt: string;
  readonly version: number;
  readonly promptId: string;
  readonly provider: string;
  readonly model: string;
}

/** A check with a judge. */
export type JudgedCheck = Check & { readonly judge: NonNullable<Check['judge']> };

export function isJudged(check: Check): check is JudgedCheck {
  return check.judge !== undefined;
}

/** The same for the same judge, model and rubric. */
export function judgeKey(
  { promptId, version, provider, model }: Judging,
  { value, threshold, at }: Pick<Check, 'value' | 'threshold' | 'at'>,
): string {
  return hash('sha256', canonicalJson({ promptId, version, provider, model, value, threshold, at }), 'hex');
}

/** The judge of a check among those of an evaluation. */
export function judgingOf(judges: readonly Judging[] | undefined, { judge }: JudgedCheck): Judging | undefined {
  return judges?.find(({ prompt, version }) => prompt === judge.prompt && version === judge.version);
}

/**
 * Whether two models are of one family, which is likely to judge its own kind of answers too well: the first word of their
 * names is the same, such as `gpt` of `openai/gpt-4.1` and of `gpt-4.1-mini`.
 */
export function isSameFamily(one: string, other: string): boolean {
  return familyOf(one) === familyOf(other);
}

function familyOf(model: string): string {
  // Before the name, gateways and clouds put who made it: `anthropic.claude-sonnet-4`.
  const name = model.toLowerCase().split('/').at(-1) ?? '';
  return /^(?:[a-z]+\.)*([a-z]+)/.exec(name)?.[1] ?? name;
}
