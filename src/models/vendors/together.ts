import {
  compatibleDialect,
  compatibleMembers,
  compatibleOptions,
  createCompatible,
  loadCompatible,
} from './compatible.ts';
import { apiKeyVariable, baseUrlVariable, type Vendor } from './vendor.ts';

const address = 'https://api.together.xyz/v1';

export const together: Vendor<'together'> = {
  id: 'together',
  name: 'Together AI',
  defaultModel: 'openai/gpt-oss-120b',
  models: [
    'openai/gpt-oss-120b',
    'openai/gpt-oss-20b',
    'meta-llama/Llama-3.3-70B-Instruct-Turbo',
    'moonshotai/Kimi-K2-Instruct-0905',
  ],
  address,
  variables: [apiKeyVariable('TOGETHER_API_KEY', 'Together AI'), baseUrlVariable('TOGETHER_BASE_URL', address)],
  options: compatibleOptions,
  ownMembers: compatibleMembers,
  dialect: compatibleDialect({ imageUrls: true }),
  load: ({ apiKey = '', baseUrl = address }, fetch) =>
    loadCompatible({ apiKey, baseUrl, structuredOutputs: true }, fetch),
  embeddings: {
    models: ['intfloat/multilingual-e5-large-instruct', 'BAAI/bge-base-en-v1.5'],
    isOpenAiCompatible: true,
    load: async ({ apiKey = '', baseUrl = address }, fetch) =>
      (await createCompatible({ apiKey, baseUrl }, fetch)).embeddingModel,
  },
};
