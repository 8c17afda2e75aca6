/**
 * What a provider needs back, in the form of Anthropic's API. Anthropic's own thinking keeps its signature. That of other
 * providers, and what belongs to their calls of tools, is written into the same places, where clients return it unchanged:
 * the signature of thinking, and a block `redacted_thinking` before the call.
 */
import { isObject } from '../../base/runtime/objects.ts';
import type { JsonObject } from '../../models/language-model.ts';

/** How a text begins that stands for metadata. No signature of Anthropic has a point. */
const beginning = 'gateway.';

/** The provider whose thinking has the form of the API itself. */
const anthropic = 'anthropic';

/** A block of thinking in an answer. */
export type ThinkingBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string };

/** @param metadata of the thinking, if its provider needs something back */
export function toThinkingBlock(thinking: string, metadata: JsonObject | undefined): ThinkingBlock {
  if (metadata === undefined) return { type: 'thinking', thinking, signature: '' };
  const { provider, signature } = metadata;
  const [[name, value] = [], ...others] = isObject(signature) ? Object.entries(signature) : [];
  if (provider === anthropic && others.length === 0 && typeof value === 'string') {
    if (name === 'signature') return { type: 'thinking', thinking, signature: value };
    if (name === 'redactedData' && thinking === '') return { type: 'redacted_thinking', data: value };
  }
  return { type: 'thinking', thinking, signature: toText(metadata) };
}

/** What a call needs back. @param id of the call */
export function toCallBlock(metadata: JsonObject, id: string): ThinkingBlock {
  return { type: 'redacted_thinking', data: toText({ ...metadata, id }) };
}

/** The metadata of thinking that has come back; undefined if its provider does not need it. */
export function metadataOfThinking(signature: string): JsonObject | undefined {
  if (signature === '') return undefined;
  return fromText(signature) ?? { provider: anthropic, signature: { signature } };
}

/** What a block `redacted_thinking` stands for: thinking, or what belongs to the call with an id. */
export function metadataOfRedacted(data: string): { readonly metadata: JsonObject; readonly call?: string } {
  const carried = fromText(data);
  if (carried === undefined) return { metadata: { provider: anthropic, signature: { redactedData: data } } };
  const { id, ...metadata } = carried;
  return typeof id === 'string' ? { metadata, call: id } : { metadata };
}

function toText(metadata: JsonObject): string {
  return beginning + Buffer.from(JSON.stringify(metadata)).toString('base64url');
}

/** @returns undefined for another text. What is no text or object of texts is left out. */
function fromText(text: string): JsonObject | undefined {
  if (!text.startsWith(beginning)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text.slice(beginning.length), 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { provider, signature, call, id } = value;
  return {
    ...(typeof provider === 'string' && { provider }),
    ...(isObject(signature) && { signature: textsOf(signature) }),
    ...(isObject(call) && { call: textsOf(call) }),
    ...(typeof id === 'string' && { id }),
  };
}

function textsOf(value: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => typeof member === 'string')) as JsonObject;
}
