import type { CohereLanguageModelChatOptions } from '@ai-sdk/cohere';
import { withCohereArguments } from '../transport/tool-arguments.ts';
import { allowed, type RulesOf } from './option-rules.ts';
import { accessTo, apiKeyVariable, baseUrlVariable, hasApiKey, type Vendor } from './vendor.ts';

const address = 'https://api.cohere.com/v2';

const options: RulesOf<CohereLanguageModelChatOptions> = {
  thinking: allowed,
};

export const cohere: Vendor<'cohere'> = {
  id: 'cohere',
  name: 'Cohere',
  defaultModel: 'command-a-03-2025',
  models: ['command-a-03-2025', 'command-a-reasoning-08-2025', 'command-r7b-12-2024', 'command-r-08-2024'],

  address,
  variables: [apiKeyVariable('COHERE_API_KEY', 'Cohere'), baseUrlVariable('COHERE_BASE_URL', address)],
  options,
  isConfigured: hasApiKey,
  dialect: { name: 'cohere', unnamedSchemas: true },
  async load(settings, fetch) {
    const { createCohere } = await import('@ai-sdk/cohere');
    return createCohere(accessTo(address, settings, withCohereArguments(fetch))).languageModel;
  },
};
