import type { components } from '../../generated/types.ts';
import type { GenerateResult } from '../providers/generation.ts';

type InvocationResult = components['schemas']['InvocationResult'];

/** The contract's representation of a model's answer, member by member. */
export function toInvocationResult({ text, finishReason, usage, toolCalls, object }: GenerateResult): InvocationResult {
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
  };
}
