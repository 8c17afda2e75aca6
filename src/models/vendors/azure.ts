import type { AzureOpenAIProvider } from '@ai-sdk/azure';
import type { Fetch } from '../transport/http.ts';
import { openai, openaiMembers } from './openai.ts';
import { baseUrlVariable, chatDialect, type Vendor, type VendorSettings } from './vendor.ts';

const address = 'https://<AZURE_RESOURCE_NAME>.openai.azure.com/openai';

export const azure: Vendor<'azure'> = {
  id: 'azure',
  name: 'Azure OpenAI',
  // Azure calls deployments, whose names the operator chooses. These are the names that Azure suggests.
  defaultModel: 'gpt-5.4-mini',
  models: ['gpt-5.5', 'gpt-5.4', 'gpt-5.4-mini', 'gpt-5.4-nano', 'gpt-4.1', 'gpt-4.1-mini', 'gpt-4o', 'gpt-4o-mini'],

  address,
  addressOf: ({ resourceName = '' }) => address.replace('<AZURE_RESOURCE_NAME>', resourceName),
  variables: [
    {
      name: 'AZURE_API_KEY',
      setting: 'apiKey',
      secret: true,
      required: true,
      description: 'API key for Azure OpenAI. Also set AZURE_RESOURCE_NAME or AZURE_BASE_URL.',
    },
    {
      name: 'AZURE_RESOURCE_NAME',
      setting: 'resourceName',
      description: 'Azure OpenAI resource. The model of a prompt is the name of a deployment in it.',
    },
    baseUrlVariable('AZURE_BASE_URL', address),
  ],
  options: openai.options,
  ownMembers: openaiMembers,
  isConfigured: ({ apiKey, resourceName, baseUrl }) => Boolean(apiKey) && Boolean(resourceName || baseUrl),
  dialect: chatDialect('openai'),
  load: async (settings, fetch) => (await create(settings, fetch)).chat,
  embeddings: {
    models: ['text-embedding-3-small', 'text-embedding-3-large', 'text-embedding-ada-002'],
    isOpenAiCompatible: true,
    load: async (settings, fetch) => (await create(settings, fetch)).embeddingModel,
  },
};

async function create(
  { apiKey = '', resourceName = '', baseUrl }: VendorSettings,
  fetch: Fetch,
): Promise<AzureOpenAIProvider> {
  const { createAzure } = await import('@ai-sdk/azure');
  return createAzure({ apiKey, fetch, resourceName, ...(baseUrl && { baseURL: baseUrl }) });
}
