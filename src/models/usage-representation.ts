import type { Usage } from './language-model.ts';

/** The contract's representation of tokens, member by member. */
export function toUsage(usage: Usage): Usage {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage;
  const { cacheWriteInputTokens, cacheWrite1hInputTokens } = usage;
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(cachedInputTokens !== undefined && { cachedInputTokens }),
    ...(cacheWriteInputTokens !== undefined && { cacheWriteInputTokens }),
    ...(cacheWrite1hInputTokens !== undefined && { cacheWrite1hInputTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  };
}
