import type { components } from '../../../generated/types.ts';
import { showCost } from '../../accounting/prices/prices.ts';
import { toUsage } from '../../models/usage-representation.ts';
import { toAttempts } from './attempts.ts';
import { textOf } from '../../models/language-model.ts';
import { flatCallsOf } from './flat-calls.ts';
import type { Generated } from './generator.ts';
import { toJsonText, type JsonText } from '../../base/runtime/json-text.ts';
import type { Plan } from './plan.ts';
import { assumedLimitWarnings, unknownVariableWarnings } from './render-prompt.ts';

type InvocationResult = components['schemas']['InvocationResult'];

export function toWarnings(
  { unknownVariables, assumedOutputTokens }: Pick<Plan, 'unknownVariables' | 'assumedOutputTokens'>,
  { result: { isUnverified, object } }: Pick<Generated, 'result'>,
): Pick<InvocationResult, 'warnings'> {
  // Most answers have none.
  const isAsPlanned = unknownVariables.length === 0 && assumedOutputTokens === undefined;
  if (isAsPlanned && !isUnverified && !object?.hasInexactNumber) return {};
  const { warnings = [] } = unknownVariableWarnings(unknownVariables);
  const all: NonNullable<InvocationResult['warnings']> = [
    ...(isUnverified
      ? [
          {
            code: 'unverified-object' as const,
            detail:
              object === undefined
                ? 'reading the answer took too long; it may not be JSON'
                : 'the check against the schema took too long; the object may not match it',
          },
        ]
      : []),
    ...(object?.hasInexactNumber
      ? [
          {
            code: 'inexact-number' as const,
            detail:
              'a number of the object has more digits or another size than an IEEE 754 double, with which it was checked',
          },
        ]
      : []),
    ...assumedLimitWarnings(assumedOutputTokens),
    ...warnings,
  ];
  return { warnings: all };
}

/** The contract's representation of an answer, member by member. Its `object` is a `JsonText`. */
export function toInvocationResult({
  result,
  cost,
  attempts,
}: Pick<Generated, 'result' | 'cost' | 'attempts'>): InvocationResult {
  const { finishReason, refusal, usage, object } = result;
  const toolCalls = flatCallsOf(result);
  const content = result.content.map((part) => ({ ...part }));
  const [first] = content;
  const isOneText = content.length < 2 && (first === undefined || first.type === 'text');
  return {
    text: textOf(result),
    finishReason,
    ...(refusal !== undefined && { refusal }),
    usage: toUsage(usage),
    cost: showCost(cost),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    ...(!isOneText && { content }),
    ...(object !== undefined && { object: object.json }),
    ...(attempts.length > 0 && { attempts: toAttempts(attempts) }),
  };
}

/** An answer whose `object` is there as text, as the text of the whole. Others are written more quickly as they are. */
export function written<Answer extends { readonly object?: unknown }>(answer: Answer): Answer | JsonText<Answer> {
  return answer.object === undefined ? answer : toJsonText<Answer>(answer);
}
