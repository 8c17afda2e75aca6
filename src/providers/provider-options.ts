/**
 * Which options of the provider packages a request can set (`provider_options`).
 *
 * The tables name every option of the installed packages. An update of a package that brings another one does not
 * compile until it is named here.
 */
import type { AmazonBedrockLanguageModelChatOptions } from '@ai-sdk/amazon-bedrock';
import type { AnthropicLanguageModelOptions } from '@ai-sdk/anthropic';
import type { CohereLanguageModelChatOptions } from '@ai-sdk/cohere';
import type { DeepSeekLanguageModelChatOptions } from '@ai-sdk/deepseek';
import type { GoogleLanguageModelOptions } from '@ai-sdk/google';
import type { GroqLanguageModelChatOptions } from '@ai-sdk/groq';
import type { MistralLanguageModelChatOptions } from '@ai-sdk/mistral';
import type { OpenAILanguageModelChatOptions } from '@ai-sdk/openai';
import type { OpenAICompatibleLanguageModelChatOptions } from '@ai-sdk/openai-compatible';
import type { XaiLanguageModelResponsesOptions } from '@ai-sdk/xai';
import type { Json, JsonObject } from './generation.ts';
import { builtInProviderIds, type BuiltInProviderId } from './provider-settings.ts';

/** A mistake in the options of one provider. */
export interface ProviderOptionMistake {
  /** JSON pointer into the options of the provider. */
  readonly pointer: string;
  /** One sentence. */
  readonly detail: string;
}

const allowed = Symbol('allowed');

/** `allowed`, or a sentence that says why an option is refused or what to use instead. */
type Rule = typeof allowed | string;

/** A rule for each option of a package. */
type RulesOf<Options> = Readonly<Record<keyof Options & string, Rule>>;

const instead = (member: string): string => `Use the member \`${member}\` instead.`;

const parallelToolCalls = instead('parameters.parallel_tool_calls');
const tokens = instead('parameters.max_output_tokens');
const format = instead('response_format');
const logprobs = 'Answers do not contain log probabilities.';
const storage = 'The service does not let providers store requests, and does not refer to what they have stored.';
const beta = 'Headers of providers cannot be set.';
const reasoning = 'Answers do not contain the reasoning of the model.';
const serverTools = "Only tools that the caller runs can be used, not the provider's own.";
const otherModels = instead('fallbacks');
const history = 'The messages are sent as they are.';
const unused = 'The option has no effect on the requests that the service makes.';

const openai: RulesOf<OpenAILanguageModelChatOptions> = {
  forceReasoning: allowed,
  logitBias: allowed,
  promptCacheKey: allowed,
  promptCacheOptions: allowed,
  reasoningEffort: allowed,
  safetyIdentifier: allowed,
  serviceTier: allowed,
  textVerbosity: allowed,
  user: allowed,
  logprobs,
  maxCompletionTokens: tokens,
  metadata: storage,
  parallelToolCalls,
  prediction: unused,
  promptCacheRetention: storage,
  store: storage,
  strictJsonSchema: format,
  systemMessageMode: history,
};

const anthropic: RulesOf<AnthropicLanguageModelOptions> = {
  cacheControl: allowed,
  effort: allowed,
  metadata: allowed,
  serviceTier: allowed,
  speed: allowed,
  thinking: allowed,
  anthropicBeta: beta,
  compaction: history,
  container: serverTools,
  contextManagement: history,
  disableParallelToolUse: parallelToolCalls,
  fallbacks: otherModels,
  includePings: unused,
  inferenceGeo: 'Where the model runs is for the operator to choose.',
  mcpServers: serverTools,
  safeguards: serverTools,
  sendReasoning: history,
  structuredOutputMode: format,
  taskBudget: tokens,
  thread: storage,
  toolStreaming: unused,
};

const google: RulesOf<GoogleLanguageModelOptions> = {
  mediaResolution: allowed,
  safetySettings: allowed,
  serviceTier: allowed,
  thinkingConfig: allowed,
  threshold: allowed,
  audioTimestamp: unused,
  cachedContent: storage,
  continuationToken: storage,
  imageConfig: unused,
  labels: unused,
  requestType: unused,
  responseModalities: format,
  retrievalConfig: serverTools,
  sharedRequestType: unused,
  streamFunctionCallArguments: unused,
  structuredOutputs: format,
};

const mistral: RulesOf<MistralLanguageModelChatOptions> = {
  promptCacheKey: allowed,
  reasoningEffort: allowed,
  safePrompt: allowed,
  documentImageLimit: unused,
  documentPageLimit: unused,
  parallelToolCalls,
  strictJsonSchema: format,
  structuredOutputs: format,
};

const groq: RulesOf<GroqLanguageModelChatOptions> = {
  reasoningEffort: allowed,
  serviceTier: allowed,
  user: allowed,
  parallelToolCalls,
  reasoningFormat: reasoning,
  strictJsonSchema: format,
  structuredOutputs: format,
};

const xai: RulesOf<XaiLanguageModelResponsesOptions> = {
  minP: allowed,
  promptCacheKey: allowed,
  reasoningEffort: allowed,
  safetyIdentifier: allowed,
  serviceTier: allowed,
  user: allowed,
  include: serverTools,
  logprobs,
  maxTurns: serverTools,
  parallelToolCalls,
  previousResponseId: storage,
  reasoningSummary: reasoning,
  store: storage,
  topLogprobs: logprobs,
};

const deepseek: RulesOf<DeepSeekLanguageModelChatOptions> = {
  reasoningEffort: allowed,
  thinking: allowed,
  userId: allowed,
  logprobs,
  strictJsonSchema: format,
  topLogprobs: logprobs,
};

const amazonBedrock: RulesOf<AmazonBedrockLanguageModelChatOptions> = {
  reasoningConfig: allowed,
  serviceTier: allowed,
  additionalModelRequestFields: 'The body of the request to the provider cannot be extended.',
  anthropicBeta: beta,
  structuredOutputMode: format,
};

const cohere: RulesOf<CohereLanguageModelChatOptions> = {
  thinking: allowed,
};

/** Members of the body that many OpenAI-compatible servers know; the package sends them as they are. */
interface BodyMembers {
  chat_template_kwargs?: JsonObject;
  logit_bias?: JsonObject;
  min_p?: number;
  prompt_cache_key?: string;
  repetition_penalty?: number;
  safety_identifier?: string;
  service_tier?: string;
  top_k?: number;
  typical_p?: number;
}

const compatible: RulesOf<OpenAICompatibleLanguageModelChatOptions & BodyMembers> = {
  chat_template_kwargs: allowed,
  logit_bias: allowed,
  min_p: allowed,
  prompt_cache_key: allowed,
  reasoningEffort: allowed,
  repetition_penalty: allowed,
  safety_identifier: allowed,
  service_tier: allowed,
  textVerbosity: allowed,
  top_k: allowed,
  typical_p: allowed,
  user: allowed,
  strictJsonSchema: format,
};

const rules: Readonly<Record<BuiltInProviderId, Readonly<Record<string, Rule>>>> = {
  openai,
  anthropic,
  google,
  mistral,
  groq,
  xai,
  deepseek,
  azure: openai,
  'amazon-bedrock': amazonBedrock,
  cohere,
  echo: {},
};

/**
 * Finds options that a request cannot set for a provider. Ids that are not built in are those of OpenAI-compatible
 * servers.
 *
 * @returns One mistake for each option; empty if there are none
 */
export function findProviderOptionMistakes(provider: string, options: JsonObject): ProviderOptionMistake[] {
  const known = rulesOf(provider);
  return Object.entries(options).flatMap(([name, value]) => {
    const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const rule = Object.hasOwn(known, name) ? known[name] : undefined;
    if (rule === allowed) {
      return known === compatible && !isPlain(value)
        ? [{ pointer, detail: 'The value must be a string, a number, a boolean, or an object of these.' }]
        : [];
    }
    const names = Object.keys(known).filter((option) => known[option] === allowed);
    const others = names.length > 0 ? `Options that can be set: ${names.join(', ')}.` : 'The provider has no options.';
    return [{ pointer, detail: `The option cannot be set. ${rule ?? others}` }];
  });
}

/** Only compatible servers need this: the other packages check the values of their options. */
function isPlain(value: Json): boolean {
  if (typeof value !== 'object') return true;
  if (value === null || Array.isArray(value)) return false;
  return Object.values(value).every((member) => typeof member !== 'object');
}

/** The options that can be set. */
export function pickAllowedOptions(provider: string, options: JsonObject): JsonObject {
  const mistakes = new Set(findProviderOptionMistakes(provider, options).map(({ pointer }) => pointer.slice(1)));
  if (mistakes.size === 0) return options;
  return Object.fromEntries(Object.entries(options).filter(([name]) => !mistakes.has(name)));
}

function rulesOf(provider: string): Readonly<Record<string, Rule>> {
  const id = builtInProviderIds.find((known) => spellingsOf(known).includes(provider));
  return id === undefined ? compatible : rules[id];
}

/** An id as the service writes it, and as the AI SDK does. */
function spellingsOf(provider: string): string[] {
  const spellings = [provider, provider.replace(/-+(\w)/g, (_, letter: string) => letter.toUpperCase())];
  return provider === 'amazon-bedrock' ? [...spellings, 'bedrock'] : spellings;
}

/**
 * Takes the options of one provider out of those by provider id. An id can be written as the AI SDK writes it:
 * `amazonBedrock` or `bedrock` for `amazon-bedrock`.
 */
export function selectProviderOptions(
  provider: string,
  optionsByProvider: Readonly<Record<string, JsonObject>> | undefined,
): JsonObject | undefined {
  const spellings = spellingsOf(provider);
  const matching = Object.entries(optionsByProvider ?? {}).filter(([key]) => spellings.includes(key));
  return matching.length === 0 ? undefined : Object.assign({}, ...matching.map(([, options]) => options));
}
