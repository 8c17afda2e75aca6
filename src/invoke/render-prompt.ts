import { ProblemError } from '../errors/problem-error.ts';
import type { PromptContent } from '../prompts/content.ts';
import {
  MissingVariablesError,
  RenderedPromptTooLargeError,
  renderMessages,
  type Message,
} from '../templates/render.ts';

/** Characters of all messages together. */
export function lengthOf(messages: readonly Message[]): number {
  return messages.reduce((sum, { content }) => sum + content.length, 0);
}

/** Names that a problem lists at most; the contract bounds the array. */
const mostNames = 10_000;

/**
 * Fills in the placeholders of a prompt.
 *
 * @param variables the caller's values by name, as parsed from JSON; `null` counts as not supplied
 * @throws {ProblemError} missing-variables naming every variable without a value, rendered-prompt-too-large
 */
export function renderPrompt(
  content: Pick<PromptContent, 'messages' | 'variables'>,
  variables: Readonly<Record<string, unknown>> | undefined,
): Message[] {
  try {
    return renderMessages(content.messages, content.variables, variables);
  } catch (error) {
    // Both messages hold names and numbers only, never a value.
    if (error instanceof MissingVariablesError) {
      throw new ProblemError('missing-variables', {
        detail: error.message,
        extensions: { variables: error.names.slice(0, mostNames) },
      });
    }
    if (error instanceof RenderedPromptTooLargeError) {
      throw new ProblemError('rendered-prompt-too-large', { detail: error.message });
    }
    throw error;
  }
}
