/**
 * Converts requests to calls of the AI SDK's provider packages. The packages are called at their lowest level
 * (`doGenerate`, `doStream`): the layer above uses several times the CPU, and downloads images.
 */
import type {
  JSONObject,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { readImageData } from '../images.ts';
import {
  textOfMessage,
  type Content,
  type GenerateRequest,
  type ImagePart,
  type Message,
  type ResponseFormat,
  type TextPart,
  type Tool,
} from '../language-model.ts';
import { pickAllowedOptions } from '../provider-options.ts';
import { withoutImageData } from '../transport/image-data.ts';
import type { Dialect, SdkProvider } from '../vendors/vendor.ts';
import { keepsTexts, toAssistantParts, type HintOf } from './parts.ts';

/** A package's options of one call, without cancellation and headers. */
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
  const { original } = request;
  if (original !== undefined && provider.originals !== undefined) {
    return { model: provider.originals.modelFor(request, original), options: { prompt: [] } };
  }
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
  const { parameters = {}, responseFormat, tools = [], toolChoice } = request;
  // For the packages, a member that is undefined is left out, but their types do not say so.
  return {
    prompt: toPrompt(provider, request, imageUrls),
    maxOutputTokens: parameters.max_output_tokens,
    temperature: parameters.temperature,
    topP: parameters.top_p,
    topK: parameters.top_k,
    stopSequences: parameters.stop && [...parameters.stop],
    seed: parameters.seed,
    presencePenalty: parameters.presence_penalty,
    frequencyPenalty: parameters.frequency_penalty,
    reasoning: parameters.reasoning_effort,
    responseFormat: responseFormat?.type === 'json' ? toFormat(responseFormat, provider.dialect) : undefined,
    tools: tools.length === 0 ? undefined : tools.map((tool) => toFunction(provider.dialect, request.model, tool)),
    toolChoice:
      typeof toolChoice === 'object' ? { type: 'tool', toolName: toolChoice.name } : toolChoice && { type: toolChoice },
    providerOptions: toOptions(provider, request),
  } as SdkCall;
}

function toFunction(
  { name, promptCache }: Dialect,
  model: string,
  { parameters, cache_control: control, ...tool }: Tool,
): LanguageModelV4FunctionTool {
  const options = control && promptCache?.takesTools && promptCache.toOptions(control, model);
  return {
    type: 'function',
    ...tool,
    inputSchema: parameters as JSONObject,
    ...(options && { providerOptions: { [name]: options as JSONObject } }),
  };
}

/**
 * Where the provider has no other place for them, the name and the description of a format are the title and the
 * description of its schema, unless this has its own.
 */
function toFormat(
  { schema, name, description }: Extract<ResponseFormat, { readonly type: 'json' }>,
  { unnamedSchemas }: Dialect,
): object {
  const names = { ...(name !== undefined && { title: name }), ...(description !== undefined && { description }) };
  return { type: 'json', schema: schema && unnamedSchemas ? { ...names, ...schema } : schema, name, description };
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
  const own = {
    ...pickAllowedOptions(id, providerOptions),
    ...more[name],
    ...(isStrict !== undefined && { strictJsonSchema: isStrict }),
    ...options,
  } as JSONObject;
  // The packages check options against a schema, also empty ones.
  return Object.keys(own).length === 0 ? more : { ...more, [name]: own };
}

/** Converts messages to the AI SDK's prompt, in the order that the provider accepts. */
function toPrompt(
  provider: SdkProvider,
  { model, messages }: Pick<GenerateRequest, 'model' | 'messages'>,
  imageUrls: readonly RegExp[],
): LanguageModelV4Prompt {
  const { dialect } = provider;
  const hintOf: HintOf = (part) => {
    const options = part?.cache_control && dialect.promptCache?.toOptions(part.cache_control, model);
    return options && { providerOptions: { [dialect.name]: options as JSONObject } };
  };
  const ordered = dialect.systemFirst ? systemFirst(messages) : messages;
  const prompt: LanguageModelV4Prompt = [];
  for (const message of ordered.flatMap((one) => (isSystem(one) ? splitSystem(dialect, one, hintOf) : one))) {
    const next = toPromptMessage(provider, message, imageUrls, hintOf);
    const last = prompt.at(-1);
    // Google wants the results of all calls of a message in one message.
    if (next.role === 'tool' && last?.role === 'tool') last.content.push(...next.content);
    else prompt.push(next);
  }
  return prompt;
}

/** The part of a message whose hint is that of the whole. */
function lastHinted({ content }: { readonly content: Content }): TextPart | ImagePart | undefined {
  return typeof content === 'string' ? undefined : content.findLast((part) => part.cache_control);
}

/**
 * A system message is one text for the packages, with a hint at its end: it ends after each part that has one. Where the
 * provider has parts, the packages make one of each message.
 */
function splitSystem(dialect: Dialect, message: SystemMessage, hintOf: HintOf): Message[] {
  const { content } = message;
  const isSplit = keepsTexts(dialect, 'system');
  if (typeof content === 'string' || !(isSplit || content.some(hintOf))) return [message];
  const pieces: Message[] = [];
  let open: TextPart[] = [];
  const close = (): void => {
    if (open.length > 0) pieces.push({ role: 'system', content: open });
    open = [];
  };
  for (const part of content) {
    if (part.type !== 'text') continue;
    open.push(part);
    if (isSplit || hintOf(part)) close();
  }
  close();
  return pieces;
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
    if (turn !== undefined) conversation.push({ role: 'user', content: turn.content });
  }
  return [...system, ...conversation];
}

type SystemMessage = Message & { readonly role: 'system' | 'developer'; readonly content: Content };

/** The packages know no developer messages; they send system messages as such to the models that want them. */
function isSystem(message: Message): message is SystemMessage {
  return message.role === 'system' || message.role === 'developer';
}

function toPromptMessage(
  provider: SdkProvider,
  message: Message,
  imageUrls: readonly RegExp[],
  hintOf: HintOf,
): LanguageModelV4Message {
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: textOfMessage(message), ...hintOf(lastHinted(message)) };
    case 'user':
      return {
        role: 'user',
        content: toUserParts(withTextsOf(provider.dialect, 'user', message.content), imageUrls, hintOf),
      };
    case 'assistant':
      return { role: 'assistant', content: toAssistantParts(provider, message, hintOf) };
    case 'tool': {
      const { toolCallId, toolName } = message;
      const output = toOutput(provider.dialect, message, imageUrls);
      return {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId, toolName, output, ...hintOf(lastHinted(message)) }],
      };
    }
  }
}

/** The content with several texts only where the provider gets them as parts: always beside images. */
function withTextsOf(dialect: Dialect, kind: 'user' | 'tool', content: Content): Content {
  if (typeof content === 'string') return content;
  const isKept = content.length < 2 || keepsTexts(dialect, kind) || content.some(({ type }) => type === 'image');
  return isKept ? content : textOfMessage({ content });
}

/** The texts of a tool that failed are one text: the packages take no others. */
function toOutput(
  dialect: Dialect,
  message: Extract<Message, { readonly role: 'tool' }>,
  imageUrls: readonly RegExp[],
): LanguageModelV4ToolResultPart['output'] {
  const { isError } = message;
  const content = withTextsOf(dialect, 'tool', message.content);
  const isOneText = typeof content === 'string' || (content.length < 2 && content[0]?.type !== 'image');
  // Requests with images of an error, or for a provider that takes none, are refused before.
  if (!isOneText && !isError) return { type: 'content', value: toUserParts(content, imageUrls, () => undefined) };
  return { type: isError ? 'error-text' : 'text', value: textOfMessage(message) };
}

type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

function toUserParts(content: Content, imageUrls: readonly RegExp[], hintOf: HintOf): UserPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const parts = content.flatMap((part): UserPart[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text, ...hintOf(part) }];
    return takesImage(part.url, imageUrls) ? [{ ...toFilePart(part), ...hintOf(part) }] : [];
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
