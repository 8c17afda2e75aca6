import type { components } from '../../../generated/types.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { CacheHint, Message } from '../../models/language-model.ts';
import type { PromptContent } from '../prompt.ts';
import { oncePerObject } from '../../base/runtime/once-per-object.ts';
import {
  MissingVariablesError,
  RenderedPromptTooLargeError,
  renderMessages,
  templatesOf,
  type Message as TemplateMessage,
} from '../templates/render.ts';

/** The most names that a problem lists; the contract bounds the array. */
const maxNames = 10_000;

/** The most places that a problem lists. */
const maxPlaces = 100;

/** The messages of a prompt without placeholders, and supplied variables that are ignored. */
export interface RenderedPrompt {
  readonly messages: readonly Message[];
  /** The supplied values without those that are ignored; undefined if there are none. */
  readonly used: Readonly<Record<string, unknown>> | undefined;
  /** Names of supplied variables that the prompt does not declare or use. */
  readonly unknown: readonly string[];
}

/**
 * Fills in the placeholders of a prompt.
 *
 * @param variables the caller's values by name, as parsed from JSON; `null` counts as not supplied
 * @throws {ProblemError} missing-variables naming every variable without a value, unknown-variables if the prompt is
 *   strict, rendered-prompt-too-large
 */
export function renderPrompt(
  content: Pick<PromptContent, 'messages' | 'variables' | 'strict'>,
  variables: Readonly<Record<string, unknown>> | undefined,
): RenderedPrompt {
  const result = render(content, variables);
  const { unknown } = result;
  if (content.strict !== true || unknown.length === 0) return result;
  throw new ProblemError('unknown-variables', {
    detail: `The prompt does not declare or use: ${unknown.slice(0, 20).join(', ')}.`,
    errors: placesOf(unknown),
    extensions: { variables: unknown.slice(0, maxNames) },
  });
}

/** The warnings of an answer about ignored variables. */
export function unknownVariableWarnings(unknown: readonly string[]): { warnings?: components['schemas']['Warnings'] } {
  if (unknown.length === 0) return {};
  return { warnings: unknown.map((name) => ({ code: 'unknown-variable', ...placeOf(name) })) };
}

/** The warnings of an answer about a limit that a budget gives to providers. */
export function assumedLimitWarnings(maxOutputTokens: number | undefined): components['schemas']['Warnings'] {
  if (maxOutputTokens === undefined) return [];
  const detail = `a budget limits the answer to ${maxOutputTokens} tokens, because no limit is set, or a larger one for a model whose own limit is unknown`;
  return [{ code: 'assumed-output-limit', detail, pointer: '#/parameters/max_output_tokens' }];
}

function placesOf(unknown: readonly string[]): { detail: string; pointer: string }[] {
  return unknown.slice(0, maxPlaces).map(placeOf);
}

function placeOf(name: string): { detail: string; pointer: string } {
  return { detail: 'is not declared or used by the prompt', pointer: `#/variables/${name}` };
}

/** A version of a prompt never changes, so its templates are parsed once. */
const parsed = oncePerObject(templatesOf);

function render(
  { messages, variables: declared }: Pick<PromptContent, 'messages' | 'variables'>,
  variables: Readonly<Record<string, unknown>> | undefined,
): RenderedPrompt {
  try {
    const { messages: rendered, unknown } = renderMessages(messages, declared, variables, undefined, parsed(messages));
    return { messages: rendered.map(toMessage), used: usedOf(variables, unknown), unknown };
  } catch (error) {
    // Both messages contain only names and numbers, never a value.
    if (error instanceof MissingVariablesError) {
      throw new ProblemError('missing-variables', {
        detail: error.message,
        ...(error.unknown.length > 0 && { errors: placesOf(error.unknown) }),
        extensions: { variables: error.names.slice(0, maxNames) },
      });
    }
    if (error instanceof RenderedPromptTooLargeError) {
      throw new ProblemError('rendered-prompt-too-large', { detail: error.message });
    }
    throw error;
  }
}

function usedOf(variables: Readonly<Record<string, unknown>> = {}, unknown: readonly string[]): RenderedPrompt['used'] {
  const ignored = new Set(unknown);
  const used = Object.entries(variables).filter(([name, value]) => value !== null && !ignored.has(name));
  return used.length === 0 ? undefined : Object.fromEntries(used);
}

/** The contract knows texts and images. */
function toMessage({ role, content }: TemplateMessage): Message {
  if (typeof content === 'string') return { role, content };
  return {
    role,
    content: content.map(({ type, text = '', url = '', cache_control }) => {
      // The contract knows no others.
      const hint = cache_control && { cache_control: cache_control as CacheHint };
      return type === 'image' ? { type, url, ...hint } : { type: 'text', text, ...hint };
    }),
  };
}
