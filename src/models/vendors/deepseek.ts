import type { DeepSeekLanguageModelChatOptions } from '@ai-sdk/deepseek';
import { allowed, reasons, type RulesOf } from './option-rules.ts';
import { accessTo, apiKeyVariable, baseUrlVariable, type Vendor } from './vendor.ts';

const address = 'https://api.deepseek.com';

const options: RulesOf<DeepSeekLanguageModelChatOptions> = {
  reasoningEffort: allowed,
  thinking: allowed,
  userId: allowed,
  logprobs: reasons.logprobs,
  strictJsonSchema: reasons.format,
  topLogprobs: reasons.logprobs,
};

export const deepseek: Vendor<'deepseek'> = {
  id: 'deepseek',
  name: 'DeepSeek',
  defaultModel: 'deepseek-v4-flash',
  models: ['deepseek-v4-pro', 'deepseek-v4-flash', 'deepseek-flash'],

  address,
  variables: [apiKeyVariable('DEEPSEEK_API_KEY', 'DeepSeek'), baseUrlVariable('DEEPSEEK_BASE_URL', address)],
  options,
  ownMembers: ['thinking.type'],
  dialect: { name: 'deepseek', textParts: [], strictJsonSchema: true, returnsReasoning: true },
  async load(settings, fetch) {
    const { createDeepSeek } = await import('@ai-sdk/deepseek');
    return createDeepSeek(accessTo(address, settings, fetch)).languageModel;
  },
};
