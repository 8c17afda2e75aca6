/** What models think, say and call, in requests and answers, with what a provider needs back unchanged. */
import {
  InvalidResponseDataError,
  type JSONObject,
  type LanguageModelV4ReasoningPart,
  type LanguageModelV4TextPart,
  type LanguageModelV4ToolCall,
  type LanguageModelV4ToolCallPart,
  type SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { isObject, membersOf } from '../../base/runtime/objects.ts';
import {
  betweenTexts,
  withoutBlank,
  type AnswerPart,
  type CacheHint,
  type ImagePart,
  type JsonObject,
  type Message,
  type TextPart,
  type ThinkingPart,
  type ToolCallPart,
} from '../language-model.ts';
import { argumentsOf, exactObject, standIn } from '../transport/tool-arguments.ts';
import type { Dialect, SdkProvider, TextHolder } from '../vendors/vendor.ts';

/** The options of the provider that are the hint of a part; undefined without one that the provider takes. */
export type HintOf = (
  part: { readonly cache_control?: CacheHint } | undefined,
) => { providerOptions: SharedV4ProviderMetadata } | undefined;

/**
 * The members of a package's metadata that go back to the provider. They are in `provider_metadata`: `call` of a call,
 * `signature` of thinking, beside the `provider` that it belongs to. Some clients return it without the provider: then
 * it goes to every provider.
 */
const signatureMembers = [
  'thoughtSignature',
  'signature',
  'redactedData',
  'redactedContent',
  'reasoningEncryptedContent',
  'itemId',
];

type AssistantPart = LanguageModelV4ReasoningPart | LanguageModelV4TextPart | LanguageModelV4ToolCallPart;

/** What an assistant said, as the packages take it. Left out are images, empty texts, and thinking that is not this provider's. */
export function toAssistantParts(
  provider: SdkProvider,
  { content }: Extract<Message, { readonly role: 'assistant' }>,
  hintOf: HintOf = () => undefined,
): AssistantPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const parts: AssistantPart[] = [];
  // With a breakpoint, every package sends the texts as parts. Without, some write one after the other.
  const isJoined = !keepsTexts(provider.dialect, 'assistant') && !content.some((part) => isText(part) && hintOf(part));
  for (const part of content) {
    if (isText(part)) {
      const start = isJoined && parts.some(({ type }) => type === 'text') ? betweenTexts : '';
      if (part.text !== '') parts.push({ type: 'text', text: start + part.text, ...hintOf(part) });
    } else if (part.type === 'thinking') parts.push(...toReasoning(provider, part));
    else if (part.type === 'tool-call') parts.push(toCallPart(provider, part, hintOf));
  }
  return parts.length > 0 ? parts : [{ type: 'text', text: '' }];
}

function isText(part: AnswerPart | ImagePart): part is TextPart {
  return part.type === 'text';
}

/** Whether the provider gets the texts of such a message as parts. */
export function keepsTexts({ textParts = ['user'] }: Pick<Dialect, 'textParts'>, kind: TextHolder): boolean {
  return textParts.includes(kind);
}

function toReasoning(
  { id, dialect: { name, returnsReasoning } }: SdkProvider,
  { text, provider_metadata: metadata }: ThinkingPart,
): LanguageModelV4ReasoningPart[] {
  if (metadata === undefined || !isOf(metadata, id)) return [];
  const signature = pickSignature(metadata['signature']);
  // Providers refuse thinking without the signature that it needs.
  if (signature === undefined && !returnsReasoning) return [];
  return [{ type: 'reasoning', text, ...toPartOptions(name, signature) }];
}

function toCallPart(
  { id, dialect: { name, argumentObjects, promptCache } }: SdkProvider,
  part: ToolCallPart,
  hintOf: HintOf,
): LanguageModelV4ToolCallPart {
  const { id: toolCallId, name: toolName, arguments: text, provider_metadata: metadata } = part;
  const hint = promptCache?.takesCalls ? hintOf(part)?.providerOptions[name] : undefined;
  const signature = metadata && isOf(metadata, id) ? pickSignature(metadata['call']) : undefined;
  return {
    type: 'tool-call',
    toolCallId,
    toolName,
    input: argumentObjects === undefined ? standIn(withoutBlank(text)) : requireObject(text),
    ...toPartOptions(name, hint || signature ? ({ ...signature, ...hint } as JsonObject) : undefined),
  };
}

/** Requests with other arguments are refused before. */
function requireObject(text: string): JSONObject {
  const object = exactObject(text);
  if (object === undefined) throw new TypeError('The arguments are not a JSON object.');
  return object;
}

function isOf(metadata: JsonObject, provider: string): boolean {
  return (metadata['provider'] ?? provider) === provider;
}

function toPartOptions(
  name: string,
  signature: JsonObject | undefined,
): { providerOptions?: SharedV4ProviderMetadata } {
  return signature === undefined ? {} : { providerOptions: { [name]: signature as JSONObject } };
}

/** Drops what no answer of a provider contains. */
function pickSignature(metadata: unknown): JsonObject | undefined {
  if (!isObject(metadata)) return undefined;
  const entries = signatureMembers.flatMap((name) => {
    const value = metadata[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return entries.length > 0 ? (Object.fromEntries(entries) as JsonObject) : undefined;
}

/** The most parts and calls of an answer, and the longest id and name of a tool, as the contract has them. */
const mostParts = 10_000;
const mostToolCalls = 1_000;
const longestName = 1_000;

type Growing<Part> = { -readonly [Name in keyof Part]: Part[Name] };
export type GrowingThinking = Growing<ThinkingPart>;

/** Gathers the parts of one answer, in their order. Whole answers and streams use it alike. */
export class AnswerContent {
  readonly parts: AnswerPart[] = [];
  readonly #provider: string;
  readonly #name: string;
  readonly #returnsReasoning: boolean;
  #text: Growing<TextPart> | undefined;
  #calls = 0;

  constructor({ id, dialect }: Pick<SdkProvider, 'id' | 'dialect'>) {
    this.#provider = id;
    this.#name = dialect.name;
    this.#returnsReasoning = dialect.returnsReasoning === true;
  }

  /** Adds to the text that came last, or begins one. */
  addText(text: string): void {
    if (this.#text !== undefined) this.#text.text += text;
    else if (text !== '') this.#text = this.#add<Growing<TextPart>>({ type: 'text', text });
  }

  /**
   * Adds thinking to what was there of it, if it says something.
   *
   * @param part undefined at its begin
   * @returns the part, which grows; undefined as long as there is none
   */
  think(
    part: GrowingThinking | undefined,
    text: string,
    metadata: SharedV4ProviderMetadata | undefined,
  ): GrowingThinking | undefined {
    const more = this.#signatureOf(metadata);
    if (part === undefined && text === '' && more === undefined) return undefined;
    const grown = part ?? this.#add<GrowingThinking>({ type: 'thinking', text: '' });
    grown.text += text;
    const { provider_metadata: { signature } = {} } = grown;
    if (more) {
      const provider_metadata = { provider: this.#provider, signature: { ...membersOf(signature), ...more } };
      grown.provider_metadata = provider_metadata as JsonObject;
    } else if (this.#returnsReasoning) grown.provider_metadata ??= { provider: this.#provider };
    return grown;
  }

  /** @throws InvalidResponseDataError for more or longer calls than an answer can have */
  readCall({ toolCallId, toolName, input, providerMetadata }: LanguageModelV4ToolCall): ToolCallPart {
    this.#calls += 1;
    if (this.#calls > mostToolCalls || Math.max(toolCallId.length, toolName.length) > longestName) {
      throw new InvalidResponseDataError({ data: undefined, message: 'Too many or too long calls of tools.' });
    }
    const call = this.#signatureOf(providerMetadata);
    return {
      type: 'tool-call',
      id: toolCallId,
      name: toolName,
      arguments: withoutBlank(argumentsOf(input)),
      ...(call && { provider_metadata: { provider: this.#provider, call } }),
    };
  }

  addCall(call: ToolCallPart): void {
    this.#add(call);
  }

  #add<Part extends AnswerPart>(part: Part): Part {
    this.#text = undefined;
    if (this.parts.push(part) > mostParts) {
      throw new InvalidResponseDataError({ data: undefined, message: 'Too many parts.' });
    }
    return part;
  }

  #signatureOf(metadata: SharedV4ProviderMetadata | undefined): JsonObject | undefined {
    return pickSignature(metadata?.[this.#name]);
  }
}
