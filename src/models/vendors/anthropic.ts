import type { AnthropicLanguageModelOptions } from '@ai-sdk/anthropic';
import { anthropicOriginals } from '../originals/anthropic-messages.ts';
import { allowed, reasons, type RulesOf } from './option-rules.ts';
import { accessTo, apiKeyVariable, baseUrlVariable, type Vendor } from './vendor.ts';

const address = 'https://api.anthropic.com/v1';

const options: RulesOf<AnthropicLanguageModelOptions> = {
  cacheControl: allowed,
  effort: allowed,
  metadata: allowed,
  serviceTier: allowed,
  speed: allowed,
  thinking: allowed,
  anthropicBeta: reasons.beta,
  compaction: reasons.history,
  container: reasons.serverTools,
  contextManagement: reasons.history,
  disableParallelToolUse: reasons.parallelToolCalls,
  fallbacks: reasons.otherModels,
  includePings: reasons.unused,
  inferenceGeo: 'Where the model runs is for the operator to choose.',
  mcpServers: reasons.serverTools,
  safeguards: reasons.serverTools,
  sendReasoning: reasons.history,
  structuredOutputMode: reasons.format,
  taskBudget: reasons.tokens,
  thread: reasons.storage,
  toolStreaming: reasons.unused,
};

export const anthropic: Vendor<'anthropic'> = {
  id: 'anthropic',
  name: 'Anthropic',
  defaultModel: 'claude-sonnet-5-5',
  models: [
    'claude-opus-5-5',
    'claude-sonnet-5-5',
    'claude-haiku-5-5',
    'claude-fable-5-2',
    'claude-fable-5-1',
    'claude-fable-5',
    'claude-opus-5',
    'claude-sonnet-5',
    'claude-opus-4-8',
    'claude-opus-4-7',
    'claude-opus-4-6',
    'claude-sonnet-4-6',
    'claude-opus-4-5',
    'claude-sonnet-4-5',
    'claude-haiku-4-5',
  ],

  address,
  variables: [apiKeyVariable('ANTHROPIC_API_KEY', 'Anthropic'), baseUrlVariable('ANTHROPIC_BASE_URL', address)],
  options,
  ownMembers: ['thinking.type', 'thinking.budget_tokens', 'cache_control.type', 'cache_control.ttl'],
  dialect: {
    name: 'anthropic',
    textParts: ['system', 'user', 'assistant', 'tool'],
    systemFirst: true,
    unnamedSchemas: true,
    imageTokens: 5_000,
    resultImages: true,
    changesOutputLimit: true,
    argumentObjects: 'input',
    promptCache: {
      toOptions: ({ type, ttl }) => ({ cacheControl: { type, ...(ttl && { ttl }) } }),
      takesTools: true,
      takesCalls: true,
      most: 4,
    },
    parallelToolCalls: (isAllowed) => ({ anthropic: { disableParallelToolUse: !isAllowed } }),
  },
  originals: (settings, fetch) => anthropicOriginals(accessTo(address, settings, fetch)),
  async load(settings, fetch) {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic(accessTo(address, settings, fetch)).languageModel;
  },
};
