import type { components } from '../../generated/types.ts';
import { toAttempts } from '../generation/attempts.ts';
import type { Generated } from '../generation/generator.ts';
import { unknownVariableWarnings } from '../generation/render-prompt.ts';

type InvocationResult = components['schemas']['InvocationResult'];

/** The warnings about an invocation. */
export function toWarnings(
  unknownVariables: readonly string[],
  { isUnverified }: Pick<Generated, 'isUnverified'>,
): Pick<InvocationResult, 'warnings'> {
  const { warnings = [] } = unknownVariableWarnings(unknownVariables);
  const unverified = {
    code: 'unverified-object' as const,
    detail: 'the check against the schema took too long; the object may not match it',
  };
  const all = isUnverified ? [unverified, ...warnings] : warnings;
  return all.length > 0 ? { warnings: all } : {};
}

/** The contract's representation of an answer, member by member. */
export function toInvocationResult({ result, attempts }: Pick<Generated, 'result' | 'attempts'>): InvocationResult {
  const { text, finishReason, usage, toolCalls, object } = result;
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage;
  return {
    text,
    finishReason,
    usage: {
      inputTokens,
      outputTokens,
      ...(cachedInputTokens !== undefined && { cachedInputTokens }),
      ...(reasoningTokens !== undefined && { reasoningTokens }),
    },
    ...(toolCalls !== undefined && { toolCalls: toolCalls.map((call) => ({ ...call })) }),
    ...(object !== undefined && { object }),
    ...(attempts.length > 0 && { attempts: toAttempts(attempts) }),
  };
}
