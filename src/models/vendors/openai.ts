import type { OpenAILanguageModelChatOptions, OpenAIProvider } from '@ai-sdk/openai';
import type { Fetch } from '../transport/http.ts';
import { allowed, reasons, type RulesOf } from './option-rules.ts';
import { accessTo, apiKeyVariable, baseUrlVariable, chatDialect, type Vendor, type VendorSettings } from './vendor.ts';

const address = 'https://api.openai.com/v1';

const options: RulesOf<OpenAILanguageModelChatOptions> = {
  forceReasoning: allowed,
  logitBias: allowed,
  promptCacheKey: allowed,
  promptCacheOptions: allowed,
  reasoningEffort: allowed,
  safetyIdentifier: allowed,
  serviceTier: allowed,
  textVerbosity: allowed,
  user: allowed,
  logprobs: reasons.logprobs,
  maxCompletionTokens: reasons.tokens,
  metadata: reasons.storage,
  parallelToolCalls: reasons.parallelToolCalls,
  prediction: reasons.unused,
  promptCacheRetention: reasons.storage,
  store: reasons.storage,
  strictJsonSchema: reasons.format,
  systemMessageMode: reasons.history,
};

const explicit = { mode: 'explicit' };

/** GPT-5.6 and later. */
function hasBreakpoints(model: string): boolean {
  const [, major = '0', minor = '0'] = /^gpt-(\d{1,3})(?:\.(\d{1,3}))?(?!\d)/.exec(model) ?? [];
  return Number(major) > 5 || (major === '5' && Number(minor) >= 6);
}

/** Azure's API has them, too. */
export const openaiMembers = ['prompt_cache_key', 'prompt_cache_options.mode', 'prompt_cache_options.ttl'];

export const openai: Vendor<'openai'> = {
  id: 'openai',
  name: 'OpenAI',
  defaultModel: 'gpt-5.4-mini',
  // Models of the chat completions API; the codex models and gpt-5-pro are only in the responses API.
  models: [
    'gpt-6.1-sol',
    'gpt-6.1-terra',
    'gpt-6-astra',
    'gpt-6-luna',
    'gpt-6-sol',
    'gpt-5.6',
    'gpt-5.6-luna',
    'gpt-5.6-sol',
    'gpt-5.6-terra',
    'gpt-5.5',
    'gpt-5.4',
    'gpt-5.4-pro',
    'gpt-5.4-mini',
    'gpt-5.4-nano',
    'gpt-5.2',
    'gpt-5.2-pro',
    'gpt-5.1',
    'gpt-5',
    'gpt-5-mini',
    'gpt-5-nano',
    'gpt-4.1',
    'gpt-4.1-mini',
    'gpt-4.1-nano',
    'gpt-4o',
    'gpt-4o-mini',
    'o4-mini',
    'o3',
  ],

  address,
  variables: [
    apiKeyVariable('OPENAI_API_KEY', 'OpenAI'),
    baseUrlVariable('OPENAI_BASE_URL', address),
    {
      name: 'OPENAI_ORGANIZATION',
      setting: 'organization',
      description: 'OpenAI organization that pays for the calls.',
    },
    {
      name: 'OPENAI_PROJECT',
      setting: 'project',
      description: 'OpenAI project that pays for the calls.',
    },
  ],
  options,
  ownMembers: openaiMembers,
  dialect: {
    ...chatDialect('openai'),
    // Earlier models cache by themselves, and refuse breakpoints.
    promptCache: { toOptions: (_, model) => (hasBreakpoints(model) ? { promptCacheBreakpoint: explicit } : undefined) },
  },
  // The package's default is the responses API, which few of the gateways behind OPENAI_BASE_URL support.
  load: async (settings, fetch) => (await create(settings, fetch)).chat,
  embeddings: {
    models: ['text-embedding-3-small', 'text-embedding-3-large', 'text-embedding-ada-002'],
    isOpenAiCompatible: true,
    load: async (settings, fetch) => (await create(settings, fetch)).embeddingModel,
  },
};

async function create(settings: VendorSettings, fetch: Fetch): Promise<OpenAIProvider> {
  const { createOpenAI } = await import('@ai-sdk/openai');
  return createOpenAI({
    ...accessTo(address, settings, fetch),
    ...(settings.organization && { organization: settings.organization }),
    ...(settings.project && { project: settings.project }),
  });
}
