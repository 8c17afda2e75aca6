import type { LanguageModelV4FinishReason } from '@ai-sdk/provider';
import type { AnswerPart, FinishReason } from '../language-model.ts';

/**
 * Decides what an answer is, for whole and streamed answers of every provider. What it contains counts more than the
 * reason that its provider names: some servers end calls of tools with `stop`, others name calls that are not there.
 *
 * @param reason the reason as the package read it
 */
export function verdictOf(
  content: readonly AnswerPart[],
  { unified, raw = '' }: LanguageModelV4FinishReason,
): FinishReason {
  const known = unified === 'interrupted' ? 'other' : unified;
  const named = known === 'other' ? (reasons.get(raw.toLowerCase()) ?? known) : known;
  const hasCalls = content.some(({ type }) => type === 'tool-call');
  if (hasCalls && (named === 'stop' || named === 'other')) return 'tool-calls';
  // Some formats of JSON are calls of a tool for the provider, and a text for the package.
  return named === 'tool-calls' && !hasCalls ? 'stop' : named;
}

/** Reasons that the packages do not know, in lower case. */
const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['max_length', 'length'],
  ['model_length', 'length'],
  ['error_limit', 'length'],
  ['tool_use', 'tool-calls'],
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
