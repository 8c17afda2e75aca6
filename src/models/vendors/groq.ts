import type { GroqLanguageModelChatOptions } from '@ai-sdk/groq';
import { allowed, reasons, type RulesOf } from './option-rules.ts';
import { accessTo, apiKeyVariable, baseUrlVariable, chatDialect, type Vendor } from './vendor.ts';

const address = 'https://api.groq.com/openai/v1';

const options: RulesOf<GroqLanguageModelChatOptions> = {
  reasoningEffort: allowed,
  serviceTier: allowed,
  user: allowed,
  parallelToolCalls: reasons.parallelToolCalls,
  reasoningFormat: reasons.reasoning,
  strictJsonSchema: reasons.format,
  structuredOutputs: reasons.format,
};

export const groq: Vendor<'groq'> = {
  id: 'groq',
  name: 'Groq',
  defaultModel: 'openai/gpt-oss-120b',
  models: [
    'openai/gpt-oss-120b',
    'openai/gpt-oss-20b',
    'llama-3.3-70b-versatile',
    'llama-3.1-8b-instant',
    'meta-llama/llama-4-maverick-17b-128e-instruct',
    'meta-llama/llama-4-scout-17b-16e-instruct',
    'moonshotai/kimi-k2-instruct-0905',
    'qwen/qwen3.6-27b',
  ],

  address,
  variables: [apiKeyVariable('GROQ_API_KEY', 'Groq'), baseUrlVariable('GROQ_BASE_URL', address)],
  options,
  dialect: chatDialect('groq'),
  async load(settings, fetch) {
    const { createGroq } = await import('@ai-sdk/groq');
    return createGroq(accessTo(address, settings, fetch)).languageModel;
  },
};
