import type { components } from '../../generated/types.ts';
import { toAttempts } from '../generation/attempts.ts';
import type { Generated } from '../generation/generator.ts';

type InvocationResult = components['schemas']['InvocationResult'];

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
