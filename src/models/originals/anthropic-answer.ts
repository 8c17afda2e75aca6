/** What answers of Anthropic's Messages API mean, in the terms of the AI SDK. */
import {
  InvalidResponseDataError,
  type LanguageModelV4Content,
  type LanguageModelV4FinishReason,
  type LanguageModelV4Usage,
  type SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { isObject } from '../../base/runtime/objects.ts';

/** The counts are read from the answer itself. */
export const noUsage: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

/** The verdict reads the reason. @param reason undefined if the answer has no end */
export function finishOf(reason: unknown): LanguageModelV4FinishReason {
  return { unified: 'other', raw: typeof reason === 'string' ? reason : undefined };
}

/** @param name as the package for Anthropic writes it */
export function signatureOf(
  name: 'signature' | 'redactedData',
  value: unknown,
): { readonly providerMetadata?: SharedV4ProviderMetadata } {
  return typeof value === 'string' ? { providerMetadata: { anthropic: { [name]: value } } } : {};
}

/** A block of a whole answer; nothing for one that is not known. @throws InvalidResponseDataError */
export function contentOf(block: unknown): LanguageModelV4Content[] {
  if (!isObject(block) || typeof block['type'] !== 'string') throw wrongAnswer();
  const { type, text, thinking, signature, data, id, name, input } = block;
  switch (type) {
    case 'text':
      if (typeof text !== 'string') throw wrongAnswer();
      return [{ type: 'text', text }];
    case 'thinking':
      if (typeof thinking !== 'string') throw wrongAnswer();
      return [{ type: 'reasoning', text: thinking, ...signatureOf('signature', signature) }];
    case 'redacted_thinking':
      return [{ type: 'reasoning', text: '', ...signatureOf('redactedData', data) }];
    case 'tool_use':
      if (typeof id !== 'string' || typeof name !== 'string' || !isObject(input)) throw wrongAnswer();
      return [{ type: 'tool-call', toolCallId: id, toolName: name, input: JSON.stringify(input) }];
    default:
      return [];
  }
}

export function wrongAnswer(): InvalidResponseDataError {
  return new InvalidResponseDataError({ data: undefined, message: 'The answer is not of this API.' });
}
