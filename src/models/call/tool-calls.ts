/** Calls of tools in requests and answers, with what a provider needs back together with them. */
import {
  InvalidResponseDataError,
  type JSONObject,
  type LanguageModelV4ReasoningPart,
  type LanguageModelV4ToolCall,
  type LanguageModelV4ToolCallPart,
  type SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { isObject } from '../../base/runtime/objects.ts';
import type { JsonObject, ToolCall } from '../language-model.ts';
import { argumentsOf, exactObject, standIn } from '../transport/tool-arguments.ts';
import type { SdkProvider } from '../vendors/vendor.ts';

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

/** A call that an earlier answer had, with the reasoning that came before it. */
export function toCallParts(
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
  readonly #returnsReasoning: boolean;
  #reasoning: { text: string; signature?: JsonObject }[] = [];
  #count = 0;

  constructor({ id, dialect }: Pick<SdkProvider, 'id' | 'dialect'>) {
    this.#provider = id;
    this.#name = dialect.name;
    this.#returnsReasoning = dialect.returnsReasoning === true;
  }

  /** Notes a whole piece of reasoning. */
  addReasoning(text: string, metadata: SharedV4ProviderMetadata | undefined): void {
    const signature = this.#signatureOf(metadata);
    if (signature) this.#reasoning.push({ text, signature });
    else if (this.#returnsReasoning) this.#reasoning.push({ text });
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
