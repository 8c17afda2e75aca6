import type { MistralLanguageModelChatOptions, MistralProvider } from '@ai-sdk/mistral';
import type { Fetch } from '../transport/http.ts';
import { allowed, reasons, type RulesOf } from './option-rules.ts';
import { accessTo, apiKeyVariable, baseUrlVariable, chatDialect, type Vendor, type VendorSettings } from './vendor.ts';

const address = 'https://api.mistral.ai/v1';

const options: RulesOf<MistralLanguageModelChatOptions> = {
  promptCacheKey: allowed,
  reasoningEffort: allowed,
  safePrompt: allowed,
  documentImageLimit: reasons.unused,
  documentPageLimit: reasons.unused,
  parallelToolCalls: reasons.parallelToolCalls,
  strictJsonSchema: reasons.format,
  structuredOutputs: reasons.format,
};

export const mistral: Vendor<'mistral'> = {
  id: 'mistral',
  name: 'Mistral',
  defaultModel: 'mistral-medium-latest',
  models: [
    'mistral-large-latest',
    'mistral-medium-latest',
    'mistral-small-latest',
    'magistral-medium-latest',
    'magistral-small-latest',
    'ministral-14b-latest',
    'ministral-8b-latest',
    'ministral-3b-latest',
    'codestral-latest',
    'mistral-code-latest',
  ],

  address,
  variables: [apiKeyVariable('MISTRAL_API_KEY', 'Mistral'), baseUrlVariable('MISTRAL_BASE_URL', address)],
  options,
  ownMembers: ['safe_prompt', 'prompt_cache_key'],
  dialect: chatDialect('mistral'),
  load: async (settings, fetch) => (await create(settings, fetch)).languageModel,
  embeddings: {
    models: ['mistral-embed', 'codestral-embed'],
    load: async (settings, fetch) => (await create(settings, fetch)).embeddingModel,
  },
};

async function create(settings: VendorSettings, fetch: Fetch): Promise<MistralProvider> {
  const { createMistral } = await import('@ai-sdk/mistral');
  return createMistral(accessTo(address, settings, fetch));
}
