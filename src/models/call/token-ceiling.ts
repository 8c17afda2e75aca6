import {
  betweenTexts,
  type GenerateRequest,
  type Message,
  type OriginalSize,
  type TokenCeiling,
} from '../language-model.ts';
import { tokensIn, vectorsOf } from '../vectors.ts';
import { oncePerObject } from '../../base/runtime/once-per-object.ts';
import type { Dialect } from '../vendors/vendor.ts';

// Guides have these numbers. A token is at least a byte of text. What providers add (instructions of their own, the names of roles, descriptions
// of tools in another notation) is in no request.
export const ofCall = 1_000;
export const ofMessage = 32;
export const ofTools = 2_000;
/** Functions and schemas become text in a notation of the provider, which is longer than compact JSON. */
export const ofSchemas = 2;
/** Of an image; some of OpenAI's models count nearly as many. */
export const ofImage = 50_000;
/** Of a tool that the provider describes itself. */
const ofOwnTool = 1_000;
/** Bytes of a token, on average. */
const likely = 4;

/**
 * The most input tokens that a provider can charge for a request, and how many it probably charges for. Computed from
 * the request, because writing it as the provider's package does takes longer than all else that is done for a call.
 */
export function inputCeiling(
  { messages, tools, responseFormat, providerOptions, embedding, original }: GenerateRequest,
  { imageTokens = ofImage }: Pick<Dialect, 'imageTokens'>,
): Omit<TokenCeiling, 'outputTokens' | 'isKept'> {
  if (original !== undefined) return ceilingOfOriginal(original.size, imageTokens);
  let bytes = 0;
  let images = 0;
  for (const message of messages) {
    bytes += bytesOf(message);
    if (typeof message.content !== 'string') for (const { type } of message.content) if (type === 'image') images += 1;
  }
  if (embedding !== undefined) {
    const tokens = tokensIn(embedding);
    return {
      inputTokens: bytes + tokens + vectorsOf(embedding).count * ofMessage,
      likelyInputTokens: Math.ceil(bytes / likely) + tokens,
    };
  }
  const schemas = bytesOfOptional(tools) + bytesOfOptional(responseFormat) + bytesOfOptional(providerOptions);
  return {
    inputTokens:
      bytes +
      messages.length * ofMessage +
      images * imageTokens +
      ofCall +
      (schemas > 0 ? schemas * ofSchemas + ofTools : 0),
    likelyInputTokens: Math.ceil((bytes + schemas) / likely),
  };
}

/** All of the text counts: what it says more than once, and what is only notation, is more than a model reads. */
function ceilingOfOriginal(
  { bytes, rewrittenBytes, messages, images, ownTools, hasUnknown }: OriginalSize,
  imageTokens: number,
): Omit<TokenCeiling, 'outputTokens' | 'isKept'> {
  return {
    inputTokens:
      bytes +
      rewrittenBytes * (ofSchemas - 1) +
      messages * ofMessage +
      images * imageTokens +
      ofCall +
      (rewrittenBytes + ownTools > 0 ? ofTools + ownTools * ofOwnTool : 0),
    likelyInputTokens: Math.ceil(bytes / likely),
    ...(hasUnknown && { hasUnknown }),
  };
}

/** How many tokens an answer of this length probably has. @param bytes of text, reasoning and arguments */
export function likelyOutputTokens(bytes: number): number {
  return Math.ceil(bytes / likely);
}

function bytesOf(message: Message): number {
  const { content } = message;
  let bytes = 0;
  if (typeof content === 'string') bytes = Buffer.byteLength(content);
  else {
    let texts = 0;
    for (const part of content) {
      if (part.type === 'text') {
        bytes += Buffer.byteLength(part.text) + (texts > 0 ? betweenTexts.length : 0);
        texts += 1;
      } else if (part.type !== 'image') bytes += bytesOfValue(part);
    }
  }
  if (message.role === 'tool') return bytes + message.toolCallId.length + Buffer.byteLength(message.toolName);
  return bytes;
}

/** Those of a stored prompt are the same objects each time. */
const bytesOfObject = oncePerObject(bytesOfValue);

function bytesOfOptional(value: object | undefined): number {
  return value === undefined ? 0 : bytesOfObject(value);
}

/** Bytes of a value as JSON, without escapes: the tokens are those of the text. */
function bytesOfValue(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === 'string') return Buffer.byteLength(value) + 2;
  if (typeof value !== 'object' || value === null) return String(value).length;
  let bytes = 2;
  if (Array.isArray(value)) for (const element of value) bytes += bytesOfValue(element) + 1;
  else for (const [name, member] of Object.entries(value)) bytes += Buffer.byteLength(name) + 4 + bytesOfValue(member);
  return bytes;
}
