/** Servers of the operator's own that speak OpenAI's chat completions. */
import type { OpenAICompatibleLanguageModelChatOptions, OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import type { JsonObject } from '../language-model.ts';
import type { Fetch } from '../transport/http.ts';
import { allowed, reasons, type RulesOf } from './option-rules.ts';
import { chatDialect, type Dialect, type LanguageModels, type VendorEmbeddings } from './vendor.ts';

/** A server that speaks OpenAI's chat completions: Ollama, vLLM, LM Studio, a company gateway. */
export interface CompatibleProviderSettings {
  /** Matches `providerNamePattern` and is none of `builtInProviderIds`. */
  readonly id: string;
  /** Display name. */
  readonly name: string;
  /** Address that `/chat/completions` is appended to, such as `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  /** Sent as a bearer token; left out if the server needs none. */
  readonly apiKey?: string;
  /** Further headers of every call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** At least one model name. */
  readonly models: readonly string[];
  /** One of `models`; the first when left out. */
  readonly defaultModel?: string;
  /** Whether the server accepts a JSON schema for its answers. False if left out. */
  readonly structuredOutputs?: boolean;
  /** Whether the server gets images by https addresses, which it opens itself. False if left out: it gets data only. */
  readonly imageUrls?: boolean;
  /** Whether the server never makes more output tokens than `max_tokens`. False if left out. */
  readonly enforcesMaxOutput?: boolean;
}

/** Members of the body that many OpenAI-compatible servers know; the package sends them as they are. */
interface BodyMembers {
  chat_template_kwargs?: JsonObject;
  logit_bias?: JsonObject;
  min_p?: number;
  prompt_cache_key?: string;
  reasoning?: JsonObject;
  repetition_penalty?: number;
  safety_identifier?: string;
  service_tier?: string;
  top_k?: number;
  typical_p?: number;
}

export const compatibleOptions: RulesOf<OpenAICompatibleLanguageModelChatOptions & BodyMembers> = {
  chat_template_kwargs: allowed,
  logit_bias: allowed,
  min_p: allowed,
  prompt_cache_key: allowed,
  reasoning: allowed,
  reasoningEffort: allowed,
  repetition_penalty: allowed,
  safety_identifier: allowed,
  service_tier: allowed,
  textVerbosity: allowed,
  top_k: allowed,
  typical_p: allowed,
  user: allowed,
  strictJsonSchema: reasons.format,
};

/** As `Vendor.ownMembers`. */
export const compatibleMembers = [
  'chat_template_kwargs',
  'min_p',
  'reasoning',
  'repetition_penalty',
  'top_k',
  'typical_p',
] as const;

/** How the package is called. It sends options that it does not know in the body. */
export function compatibleDialect({ imageUrls = false }: Pick<CompatibleProviderSettings, 'imageUrls'>): Dialect {
  return {
    ...chatDialect(compatibleName),
    parallelToolCalls: (isAllowed) => ({ [compatibleName]: { parallel_tool_calls: isAllowed } }),
    imageUrls,
  };
}

/** Not the provider's id, because the package reads options under variants of its name. */
const compatibleName = 'compatible';

/** The models of a server are in one list. */
export const compatibleEmbeddings: Omit<VendorEmbeddings, 'load'> = { models: [], isOpenAiCompatible: true };

/** Where a server is, and what it takes. */
type Access = Pick<CompatibleProviderSettings, 'baseUrl' | 'apiKey' | 'headers' | 'structuredOutputs'>;

/** Imports the package for OpenAI-compatible servers and prepares it for one of them. */
export async function createCompatible(
  { baseUrl, apiKey, headers, structuredOutputs = false }: Access,
  fetch: Fetch,
): Promise<OpenAICompatibleProvider> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({
    name: compatibleName,
    baseURL: baseUrl,
    fetch,
    ...(apiKey && { apiKey }),
    ...(headers && { headers: { ...headers } }),
    supportsStructuredOutputs: structuredOutputs,
    includeUsage: true,
  });
}

/** Its models for chats. */
export async function loadCompatible(access: Access, fetch: Fetch): Promise<LanguageModels> {
  return (await createCompatible(access, fetch)).chatModel;
}
