import type { LanguageModelV4FinishReason } from '@ai-sdk/provider';
import type { AnswerPart, FinishReason } from '../language-model.ts';
import type { AnswerSigns } from './signs.ts';

/**
 * Decides what an answer is, for whole and streamed answers of every provider. What it contains counts more than the
 * reason that its provider names: some servers end calls of tools with `stop`, others name calls that are not there.
 *
 * @param reason the reason as the package read it
 * @returns `error` for an answer that its provider ended with one, or that has one in it
 */
export function verdictOf(
  content: readonly AnswerPart[],
  { unified, raw = '' }: LanguageModelV4FinishReason,
  { error, reason, refusal }: Pick<AnswerSigns, 'error' | 'reason' | 'refusal'>,
): FinishReason {
  if (error !== undefined) return 'error';
  const named = reason ?? reasons.get(raw.toLowerCase()) ?? (unified === 'interrupted' ? 'other' : unified);
  const isOpen = named === 'stop' || named === 'other';
  if (content.some(({ type }) => type === 'tool-call')) return isOpen ? 'tool-calls' : named;
  if (refusal !== undefined && (isOpen || named === 'tool-calls')) return 'content-filter';
  // Some formats of JSON are calls of a tool for the provider, and a text for the package.
  return named === 'tool-calls' ? 'stop' : named;
}

/** What the providers name, in lower case, as far as the packages do not know it, or read it otherwise. */
const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['max_length', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['error_limit', 'length'],
  ['tool_use', 'tool-calls'],
  // The model has not ended: it goes on when it gets its answer back.
  ['pause_turn', 'other'],
  ['function_call', 'tool-calls'],
  ['content_filter', 'content-filter'],
  ['safety', 'content-filter'],
  ['recitation', 'content-filter'],
  ['refusal', 'content-filter'],
  ['sensitive', 'content-filter'],
  ['error_toxic', 'content-filter'],
  ['error', 'error'],
  ['failed', 'error'],
  ['abort', 'error'],
  ['aborted', 'error'],
  ['cancelled', 'error'],
  ['network_error', 'error'],
  ['malformed_model_output', 'error'],
  ['malformed_tool_use', 'error'],
  ['malformed_response', 'error'],
  ['unexpected_tool_call', 'error'],
  ['too_many_tool_calls', 'error'],
]);
