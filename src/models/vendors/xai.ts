import type { XaiLanguageModelResponsesOptions } from '@ai-sdk/xai';
import { allowed, reasons, type RulesOf } from './option-rules.ts';
import { accessTo, apiKeyVariable, baseUrlVariable, type Vendor } from './vendor.ts';

const address = 'https://api.x.ai/v1';

const options: RulesOf<XaiLanguageModelResponsesOptions> = {
  minP: allowed,
  promptCacheKey: allowed,
  reasoningEffort: allowed,
  safetyIdentifier: allowed,
  serviceTier: allowed,
  user: allowed,
  include: reasons.serverTools,
  logprobs: reasons.logprobs,
  maxTurns: reasons.serverTools,
  parallelToolCalls: reasons.parallelToolCalls,
  previousResponseId: reasons.storage,
  reasoningSummary: reasons.reasoning,
  store: reasons.storage,
  topLogprobs: reasons.logprobs,
};

export const xai: Vendor<'xai'> = {
  id: 'xai',
  name: 'xAI',
  defaultModel: 'grok-4.7',
  models: [
    'grok-4.7',
    'grok-4.6',
    'grok-4.5',
    'grok-4.3',
    'grok-4.20-reasoning',
    'grok-4.20-non-reasoning',
    'grok-latest',
  ],

  address,
  variables: [apiKeyVariable('XAI_API_KEY', 'xAI'), baseUrlVariable('XAI_BASE_URL', address)],
  options,
  ownMembers: ['min_p', 'prompt_cache_key'],
  dialect: {
    name: 'xai',
    textParts: ['user', 'assistant', 'tool'],
    parallelToolCalls: (isAllowed) => ({ xai: { parallelToolCalls: isAllowed } }),
    // xAI stores prompts and answers by default.
    options: { store: false },
  },
  async load(settings, fetch) {
    const { createXai } = await import('@ai-sdk/xai');
    return createXai(accessTo(address, settings, fetch)).languageModel;
  },
};
