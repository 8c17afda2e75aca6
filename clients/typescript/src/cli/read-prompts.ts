import type { PromptGateway } from '../prompt-gateway.ts';
import type { VariableDefinitions } from '../template.ts';

/** The parts of a prompt that its types are made from. */
export interface PromptContent {
  readonly slug: string;
  readonly name: string;
  readonly messages: readonly { readonly content: string }[];
  readonly variables?: VariableDefinitions | undefined;
  readonly response_format?: { readonly type?: unknown; readonly schema?: unknown } | undefined;
}

/** The server at the address is not the service. */
export class NoServiceError extends Error {}

/**
 * Reads all stored prompts.
 * @throws GatewayError
 * @throws NoServiceError
 */
export async function readPrompts(gateway: PromptGateway): Promise<PromptContent[]> {
  const prompts: PromptContent[] = [];
  for await (const page of gateway.prompts.list({ limit: 100 }).pages() as AsyncIterable<unknown>) {
    if (!isPage(page)) throw new NoServiceError('The answer is not a list of prompts. Is the address right?');
    prompts.push(...page.data);
  }
  return prompts;
}

interface Page {
  readonly data: readonly PromptContent[];
  readonly pagination: { readonly next: string | null };
}

/** The server at the address may be another one, and its answer is written into a file. So every value is checked. */
function isPage(value: unknown): value is Page {
  return (
    isObject(value) &&
    Array.isArray(value['data']) &&
    value['data'].every(isPrompt) &&
    isObject(value['pagination']) &&
    (value['pagination']['next'] === null || typeof value['pagination']['next'] === 'string')
  );
}

function isPrompt(value: unknown): value is PromptContent {
  if (!isObject(value)) return false;
  const { slug, name, messages, variables = {}, response_format: format = {} } = value;
  return (
    typeof slug === 'string' &&
    typeof name === 'string' &&
    Array.isArray(messages) &&
    messages.every((message) => isObject(message) && typeof message['content'] === 'string') &&
    isObject(format) &&
    isObject(variables) &&
    Object.values(variables).every(
      (definition) =>
        isObject(definition) &&
        isStringOrNothing(definition['default']) &&
        isStringOrNothing(definition['description']),
    )
  );
}

function isStringOrNothing(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
