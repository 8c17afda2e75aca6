import {
  compatibleDialect,
  compatibleMembers,
  compatibleOptions,
  createCompatible,
  loadCompatible,
} from './compatible.ts';
import { apiKeyVariable, baseUrlVariable, type Vendor } from './vendor.ts';

const address = 'https://openrouter.ai/api/v1';

export const openrouter: Vendor<'openrouter'> = {
  id: 'openrouter',
  name: 'OpenRouter',
  defaultModel: 'openai/gpt-5.4-mini',
  // OpenRouter has hundreds, named by their vendors. These are the ones of this list of vendors.
  models: [
    'openrouter/auto',
    'openai/gpt-5.5',
    'openai/gpt-5.4-mini',
    'anthropic/claude-opus-5',
    'anthropic/claude-sonnet-5',
    'google/gemini-3.5-flash',
    'x-ai/grok-4.5',
    'deepseek/deepseek-v4-flash',
  ],
  address,
  variables: [apiKeyVariable('OPENROUTER_API_KEY', 'OpenRouter'), baseUrlVariable('OPENROUTER_BASE_URL', address)],
  options: compatibleOptions,
  ownMembers: compatibleMembers,
  dialect: compatibleDialect({ imageUrls: true }),
  load: ({ apiKey = '', baseUrl = address }, fetch) =>
    loadCompatible({ apiKey, baseUrl, structuredOutputs: true }, fetch),
  embeddings: {
    models: ['openai/text-embedding-3-small', 'openai/text-embedding-3-large', 'qwen/qwen3-embedding-8b'],
    isOpenAiCompatible: true,
    load: async ({ apiKey = '', baseUrl = address }, fetch) =>
      (await createCompatible({ apiKey, baseUrl }, fetch)).embeddingModel,
  },
};
