/**
 * Converts requests to calls of the AI SDK's provider packages, and what these answer back. The packages are called at
 * their lowest level (`doGenerate`, `doStream`): the layer above uses several times the CPU, and downloads images.
 */
import {
  InvalidResponseDataError,
  type JSONObject,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4FilePart,
  type LanguageModelV4FinishReason,
  type LanguageModelV4Message,
  type LanguageModelV4Prompt,
  type LanguageModelV4ReasoningPart,
  type LanguageModelV4ToolCall,
  type LanguageModelV4ToolCallPart,
  type LanguageModelV4Usage,
  type SharedV4ProviderMetadata,
  type SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import {
  textOf,
  type Content,
  type FinishReason,
  type GenerateRequest,
  type ImagePart,
  type JsonObject,
  type Message,
  type ResponseFormat,
  type ToolCall,
  type Usage,
} from '../language-model.ts';
import { withoutImageData } from '../transport/image-data.ts';
import { readImageData } from '../images.ts';
import { pickAllowedOptions } from '../provider-options.ts';
import { argumentsOf, exactObject, standIn } from '../transport/tool-arguments.ts';
import type { Dialect, LanguageModels } from '../vendors/vendor.ts';

type JsonFormat = Extract<ResponseFormat, { readonly type: 'json' }>;

/** A provider package, ready for calls. */
export interface SdkProvider {
  /** The provider's id. */
  readonly id: string;
  readonly dialect: Dialect;
  /** The provider's models, loaded on first use. */
  readonly models: () => Promise<LanguageModels>;
}

/** A provider package's options of one call, without cancellation and headers. */
export type SdkCall = Omit<LanguageModelV4CallOptions, 'abortSignal' | 'headers'>;

/**
 * The model of a request, and the request as its `doGenerate` and `doStream` take it.
 *
 * Left out is what could reach further than a request may: options that are not allowed, metadata of other providers,
 * and images that the package would have to download.
 *
 * @param signal of the call; without it, the data of images is in the options
 */
export async function prepareSdkCall(
  provider: SdkProvider,
  request: GenerateRequest,
  signal?: AbortSignal,
): Promise<{ model: LanguageModelV4; options: SdkCall }> {
  const model = (await provider.models())(request.model);
  if (!hasImages(request)) return { model, options: toSdkCall(provider, request, []) };
  const options = toSdkCall(provider, request, await imageUrlsOf(model, provider.dialect));
  if (signal === undefined || provider.dialect.signsBodies) return { model, options };
  return { model, options: { ...options, prompt: withoutImageData(options.prompt, signal) } };
}

/** The addresses of images that the provider opens itself. */
export async function imageUrlsOf(model: LanguageModelV4, { imageUrls }: Dialect): Promise<readonly RegExp[]> {
  if (imageUrls !== undefined) return imageUrls ? [/^https:/] : [];
  const supported = await model.supportedUrls;
  return Object.entries(supported).flatMap(([type, patterns]) =>
    /^(?:\*|\*\/\*|image\/\*)$/.test(type) ? patterns : [],
  );
}

/** Whether an image can be in a call. */
export function takesImage(url: string, imageUrls: readonly RegExp[]): boolean {
  if (readImageData(url)) return true;
  return /^https:/i.test(url) && URL.canParse(url) && imageUrls.some((pattern) => pattern.test(new URL(url).href));
}

function hasImages({ messages }: GenerateRequest): boolean {
  return messages.some(({ content }) => typeof content !== 'string' && content.some(({ type }) => type === 'image'));
}

function toSdkCall(provider: SdkProvider, request: GenerateRequest, imageUrls: readonly RegExp[]): SdkCall {
  const { parameters = {}, responseFormat, tools, toolChoice } = request;
  return withoutUndefined<SdkCall>({
    prompt: toPrompt(provider, request.messages, imageUrls),
    maxOutputTokens: parameters.max_output_tokens,
    temperature: parameters.temperature,
    topP: parameters.top_p,
    topK: parameters.top_k,
    stopSequences: parameters.stop && [...parameters.stop],
    seed: parameters.seed,
    presencePenalty: parameters.presence_penalty,
    frequencyPenalty: parameters.frequency_penalty,
    reasoning: parameters.reasoning_effort,
    responseFormat:
      responseFormat?.type === 'json'
        ? withoutUndefined({
            type: 'json' as const,
            schema: schemaOf(responseFormat, provider.dialect) as JSONObject | undefined,
            name: responseFormat.name,
            description: responseFormat.description,
          })
        : undefined,
    tools: tools?.length
      ? tools.map(({ name, description, parameters: schema, strict }) =>
          withoutUndefined({
            type: 'function' as const,
            name,
            description,
            inputSchema: schema as JSONObject,
            strict,
          }),
        )
      : undefined,
    toolChoice:
      typeof toolChoice === 'object' ? { type: 'tool', toolName: toolChoice.name } : toolChoice && { type: toolChoice },
    providerOptions: toOptions(provider, request),
  });
}

/**
 * The schema of a format. Where the provider has no other place for them, its name and description are the title and
 * description of the schema, unless this has its own.
 */
function schemaOf(
  { schema, name: title, description }: JsonFormat,
  { unnamedSchemas }: Dialect,
): JsonObject | undefined {
  if (schema === undefined || !unnamedSchemas) return schema;
  return { ...withoutUndefined({ title, description }), ...schema };
}

function toOptions(
  { id, dialect }: SdkProvider,
  { parameters, responseFormat, providerOptions = {} }: GenerateRequest,
): SharedV4ProviderOptions {
  const { name, parallelToolCalls, strictJsonSchema, options } = dialect;
  const parallel = parameters?.parallel_tool_calls;
  const more = parallel === undefined ? {} : (parallelToolCalls?.(parallel) ?? {});
  // The packages assume different things about a format that does not say `strict`; the service assumes false.
  const isStrict = responseFormat?.type === 'json' && strictJsonSchema ? (responseFormat.strict ?? false) : undefined;
  return {
    ...more,
    [name]: {
      ...pickAllowedOptions(id, providerOptions),
      ...more[name],
      ...(isStrict !== undefined && { strictJsonSchema: isStrict }),
      ...options,
    } as JSONObject,
  };
}

/** Converts messages to the AI SDK's prompt, in the order that the provider accepts. */
function toPrompt(
  provider: SdkProvider,
  messages: readonly Message[],
  imageUrls: readonly RegExp[],
): LanguageModelV4Prompt {
  const ordered = provider.dialect.systemFirst ? systemFirst(messages) : messages;
  const prompt: LanguageModelV4Prompt = [];
  for (const message of ordered) {
    const next = toPromptMessage(provider, message, imageUrls);
    const last = prompt.at(-1);
    // Google wants the results of all calls of a message in one message.
    if (next.role === 'tool' && last?.role === 'tool') last.content.push(...next.content);
    else prompt.push(next);
  }
  return prompt;
}

/**
 * The order for providers whose API separates the system instruction from the conversation. They refuse system messages
 * within the conversation, and conversations without a user message. All system messages move to the front, in their
 * order; if there are no others, the last of them becomes a user message.
 */
function systemFirst(messages: readonly Message[]): Message[] {
  const system = messages.filter(isSystem);
  const conversation = messages.filter((message) => !isSystem(message));
  if (conversation.length === 0) {
    const turn = system.pop();
    if (turn !== undefined) conversation.push({ role: 'user', content: textOf(turn) });
  }
  return [...system, ...conversation];
}

/** The packages know no developer messages; they send system messages as such to the models that want them. */
function isSystem({ role }: Message): boolean {
  return role === 'system' || role === 'developer';
}

function toPromptMessage(
  provider: SdkProvider,
  message: Message,
  imageUrls: readonly RegExp[],
): LanguageModelV4Message {
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: textOf(message) };
    case 'user':
      return { role: 'user', content: toUserParts(message.content, imageUrls) };
    case 'assistant': {
      const text = textOf(message);
      const calls = (message.toolCalls ?? []).map((call) => toCallParts(provider, call));
      // Reasoning came before the text. Providers refuse it in another place.
      const [first] = calls;
      return {
        role: 'assistant',
        content: [
          ...(first?.reasoning ?? []),
          ...(text !== '' || first === undefined ? [{ type: 'text' as const, text }] : []),
          ...calls.flatMap(({ reasoning, call }, index) => (index === 0 ? [call] : [...reasoning, call])),
        ],
      };
    }
    case 'tool': {
      const { toolCallId, toolName, content } = message;
      return {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: content } }],
      };
    }
  }
}

type UserPart = { type: 'text'; text: string } | LanguageModelV4FilePart;

function toUserParts(content: Content, imageUrls: readonly RegExp[]): UserPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const parts = content.flatMap((part): UserPart[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    return takesImage(part.url, imageUrls) ? [toFilePart(part)] : [];
  });
  return parts.length > 0 ? parts : [{ type: 'text', text: '' }];
}

/** An image by its address or, for `data:`, by its bytes. */
function toFilePart({ url }: ImagePart): LanguageModelV4FilePart {
  const image = readImageData(url);
  return image === undefined
    ? // One of the packages wants a type for addresses too, and none of them sends it.
      { type: 'file', mediaType: 'image/jpeg', data: { type: 'url', url: new URL(url) } }
    : { type: 'file', mediaType: image.mediaType, data: { type: 'data', data: image.base64 } };
}

/**
 * The `provider_metadata` of a tool call: what the provider needs back together with the call. It belongs to one
 * provider and is left out for others. Some clients return it without the provider: then it goes to every provider.
 */
interface ToolCallMetadata {
  readonly provider: string;
  readonly call?: JsonObject;
  /** The reasoning right before the call. */
  readonly reasoning?: readonly { readonly text: string; readonly signature?: JsonObject }[];
}

/** The members of a package's metadata that go back to the provider. */
const signatureMembers = [
  'thoughtSignature',
  'signature',
  'redactedData',
  'redactedContent',
  'reasoningEncryptedContent',
  'itemId',
];

/** The longest `provider_metadata`, in characters of its JSON. A longer one is left out. */
const longestToolCallMetadata = 65_536;

function toCallParts(
  { id, dialect: { name, argumentObjects } }: SdkProvider,
  call: ToolCall,
): { reasoning: LanguageModelV4ReasoningPart[]; call: LanguageModelV4ToolCallPart } {
  const metadata = readMetadata(id, call.provider_metadata);
  return {
    call: {
      type: 'tool-call',
      toolCallId: call.id,
      toolName: call.name,
      input: argumentObjects === undefined ? standIn(call.arguments) : requireObject(call.arguments),
      ...toPartOptions(name, metadata?.call),
    },
    reasoning: (metadata?.reasoning ?? []).map(({ text: thought, signature }) => ({
      type: 'reasoning',
      text: thought,
      ...toPartOptions(name, signature),
    })),
  };
}

/** Requests with other arguments are refused before. */
function requireObject(text: string): JSONObject {
  const object = exactObject(text);
  if (object === undefined) throw new TypeError('The arguments are not a JSON object.');
  return object;
}

function toPartOptions(
  name: string,
  signature: JsonObject | undefined,
): { providerOptions?: SharedV4ProviderMetadata } {
  return signature === undefined ? {} : { providerOptions: { [name]: signature as JSONObject } };
}

/** Reads what a caller sent back. Anything that no answer of this provider contains is dropped. */
function readMetadata(provider: string, metadata: JsonObject | undefined): ToolCallMetadata | undefined {
  if (metadata === undefined || (metadata['provider'] ?? provider) !== provider) return undefined;
  const call = pickSignature(metadata['call']);
  const reasoning = Array.isArray(metadata['reasoning']) ? (metadata['reasoning'] as unknown[]) : [];
  return {
    provider,
    ...(call && { call }),
    reasoning: reasoning.flatMap((part) => {
      if (!isObject(part) || typeof part['text'] !== 'string') return [];
      const signature = pickSignature(part['signature']);
      return [{ text: part['text'], ...(signature && { signature }) }];
    }),
  };
}

function pickSignature(metadata: unknown): JsonObject | undefined {
  if (!isObject(metadata)) return undefined;
  const entries = signatureMembers.flatMap((name) => {
    const value = metadata[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return entries.length > 0 ? (Object.fromEntries(entries) as JsonObject) : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The most calls of an answer, and the longest id and name of a tool, as the contract has them. */
const mostToolCalls = 1_000;
const longestName = 1_000;

/**
 * Reads the tool calls of one answer, in their order. Whole answers and streams use it alike.
 *
 * Reasoning that the provider needs back is kept for the call that follows it.
 */
export class ToolCallReader {
  readonly #provider: string;
  readonly #name: string;
  #reasoning: { text: string; signature?: JsonObject }[] = [];
  #count = 0;

  constructor({ id, dialect }: Pick<SdkProvider, 'id' | 'dialect'>) {
    this.#provider = id;
    this.#name = dialect.name;
  }

  /** Notes a whole piece of reasoning. */
  addReasoning(text: string, metadata: SharedV4ProviderMetadata | undefined): void {
    const signature = this.#signatureOf(metadata);
    // DeepSeek needs its reasoning without a signature.
    if (signature) this.#reasoning.push({ text, signature });
    else if (this.#provider === 'deepseek') this.#reasoning.push({ text });
  }

  /** @throws InvalidResponseDataError for more or longer calls than an answer can have */
  read({ toolCallId, toolName, input, providerMetadata }: LanguageModelV4ToolCall): ToolCall {
    this.#count += 1;
    if (this.#count > mostToolCalls || Math.max(toolCallId.length, toolName.length) > longestName) {
      throw new InvalidResponseDataError({ data: undefined, message: 'Too many or too long calls of tools.' });
    }
    const call = this.#signatureOf(providerMetadata);
    const reasoning = this.#reasoning;
    this.#reasoning = [];
    const toolCall = { id: toolCallId, name: toolName, arguments: argumentsOf(input) };
    if (call === undefined && reasoning.length === 0) return toolCall;
    const metadata: JsonObject = {
      provider: this.#provider,
      ...(call && { call }),
      ...(reasoning.length > 0 && { reasoning }),
    };
    return JSON.stringify(metadata).length > longestToolCallMetadata
      ? toolCall
      : { ...toolCall, provider_metadata: metadata };
  }

  #signatureOf(metadata: SharedV4ProviderMetadata | undefined): JsonObject | undefined {
    return pickSignature(metadata?.[this.#name]);
  }
}

/** The usage of an answer, with the counts that the provider sent. */
export function toUsage({ inputTokens, outputTokens, raw }: LanguageModelV4Usage): Usage {
  const cached = toCount(inputTokens.cacheRead);
  const reasoning = toCount(outputTokens.reasoning);
  // The packages report 0 for counts that the provider left out.
  const sent = cached === 0 || reasoning === 0 ? JSON.stringify(raw ?? {}) : '';
  const saysCached = cached !== 0 || cachedCount.test(sent);
  const saysReasoning = reasoning !== 0 || reasoningCount.test(sent);
  return {
    inputTokens: toCount(inputTokens.total) ?? 0,
    outputTokens: toCount(outputTokens.total) ?? 0,
    ...(cached !== undefined && saysCached && { cachedInputTokens: cached }),
    ...(reasoning !== undefined && saysReasoning && { reasoningTokens: reasoning }),
  };
}

const cachedCount = /"\w*cache(?!_?(?:creation|write))\w*":\d/i;
const reasoningCount = /"\w*(?:reasoning|thought|thinking)\w*":\d/i;

/** Providers can leave out a number or send a wrong one. The answer is still valid. */
function toCount(tokens: number | undefined): number | undefined {
  return tokens !== undefined && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined;
}

/** A stream that ended without the provider's own end is `interrupted`; it is for the caller to refuse it. */
export function toFinishReason({ unified }: LanguageModelV4FinishReason): FinishReason {
  return unified === 'interrupted' ? 'other' : unified;
}

function withoutUndefined<T extends object>(value: { [Key in keyof T]: T[Key] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
