import type { BuiltInProviderId } from './provider-settings.ts';

interface CatalogEntry {
  /** Display name. */
  readonly name: string;
  /** One of `models`. */
  readonly defaultModel: string;
  readonly models: readonly string[];
}

/**
 * The chat models that the service lists for its built-in providers: those that the provider packages know, without
 * dated snapshots, previews of other media and retired names. The lists help to choose a model but do not limit it: any
 * other model name is passed on, and configuration can extend the lists.
 */
export const catalog: Readonly<Record<BuiltInProviderId, CatalogEntry>> = {
  openai: {
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
  },
  anthropic: {
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
  },
  google: {
    name: 'Google Gemini',
    defaultModel: 'gemini-3.8-flash',
    models: [
      'gemini-4-argon',
      'gemini-4-carbon',
      'gemini-4-hydrogen',
      'gemini-3.8-flash',
      'gemini-3.7-flash',
      'gemini-3.6-flash',
      'gemini-3.5-flash',
      'gemini-3.5-flash-lite',
      'gemini-3.1-pro-preview',
      'gemini-2.5-pro',
      'gemini-2.5-flash',
      'gemini-2.5-flash-lite',
      'gemini-pro-latest',
      'gemini-flash-latest',
      'gemini-flash-lite-latest',
    ],
  },
  mistral: {
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
  },
  groq: {
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
  },
  xai: {
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
  },
  deepseek: {
    name: 'DeepSeek',
    defaultModel: 'deepseek-v4-flash',
    models: ['deepseek-v4-pro', 'deepseek-v4-flash', 'deepseek-flash'],
  },
  azure: {
    name: 'Azure OpenAI',
    // Azure calls deployments, whose names the operator chooses. These are the names that Azure suggests.
    defaultModel: 'gpt-5.4-mini',
    models: ['gpt-5.5', 'gpt-5.4', 'gpt-5.4-mini', 'gpt-5.4-nano', 'gpt-4.1', 'gpt-4.1-mini', 'gpt-4o', 'gpt-4o-mini'],
  },
  'amazon-bedrock': {
    name: 'Amazon Bedrock',
    defaultModel: 'us.amazon.nova-lite-v1:0',
    models: [
      'us.anthropic.claude-opus-5-5',
      'us.anthropic.claude-sonnet-5-5',
      'us.anthropic.claude-fable-5-1',
      'us.anthropic.claude-opus-4-8',
      'us.anthropic.claude-sonnet-4-6-v1',
      'us.anthropic.claude-haiku-4-5-20251001-v1:0',
      'us.amazon.nova-premier-v1:0',
      'us.amazon.nova-pro-v1:0',
      'us.amazon.nova-lite-v1:0',
      'us.amazon.nova-micro-v1:0',
      'us.meta.llama4-maverick-17b-instruct-v1:0',
      'us.meta.llama4-scout-17b-instruct-v1:0',
      'us.deepseek.r1-v1:0',
      'us.mistral.pixtral-large-2502-v1:0',
      'openai.gpt-oss-120b-1:0',
      'openai.gpt-oss-20b-1:0',
    ],
  },
  cohere: {
    name: 'Cohere',
    defaultModel: 'command-a-03-2025',
    models: ['command-a-03-2025', 'command-a-reasoning-08-2025', 'command-r7b-12-2024', 'command-r-08-2024'],
  },
  echo: {
    name: 'Echo',
    defaultModel: 'echo-1',
    models: ['echo-1', 'echo-upper', 'echo-reverse'],
  },
};
