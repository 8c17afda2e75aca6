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

/** What the versions that labels name are made from, by label. */
export type LabelledContents = ReadonlyMap<string, readonly PromptContent[]>;

/** No prompt has a label. */
export class NoLabelError extends Error {}

/** The server at the address is not the service. */
export class NoServiceError extends Error {}

/**
 * Reads all stored prompts, and the versions that these labels name.
 * @throws GatewayError
 * @throws NoServiceError
 * @throws NoLabelError
 */
export async function readPrompts(
  gateway: PromptGateway,
  labels: readonly string[] = [],
): Promise<{ prompts: PromptContent[]; labelled: LabelledContents }> {
  const prompts: PromptContent[] = [];
  const labelled = new Map(labels.map((label) => [label, [] as PromptContent[]]));
  for await (const page of gateway.prompts.list({ limit: 100 }).pages() as AsyncIterable<unknown>) {
    if (!isPage(page)) throw new NoServiceError(noPrompts);
    prompts.push(...page.data);
    for (const [label, contents] of labelled) {
      for (const prompt of page.data) {
        const content = await readLabelled(gateway, prompt, label);
        if (content !== undefined) contents.push(content);
      }
    }
  }
  for (const [label, { length }] of labelled) {
    if (length === 0) throw new NoLabelError(`No prompt has the label ${JSON.stringify(label)}.`);
  }
  return { prompts, labelled };
}

const noPrompts = 'The answer is not a list of prompts. Is the address right?';

async function readLabelled(
  gateway: PromptGateway,
  { slug, name, version, labels = {}, ...latest }: PromptContent & Labelled,
  label: string,
): Promise<PromptContent | undefined> {
  const named = Object.hasOwn(labels, label) ? labels[label] : undefined;
  if (named === undefined) return undefined;
  if (named === version) return { slug, name, ...latest };
  const content: unknown = await gateway.promptVersions.get(slug, named);
  const prompt: unknown = isObject(content) ? { ...content, slug, name } : content;
  if (!isPrompt(prompt)) throw new NoServiceError(noPrompts);
  return prompt;
}

/** The number of the latest version, and those that labels name. */
interface Labelled {
  readonly version?: number;
  readonly labels?: Readonly<Record<string, number>>;
}

interface Page {
  readonly data: readonly (PromptContent & Labelled)[];
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

function isPrompt(value: unknown): value is PromptContent & Labelled {
  if (!isObject(value)) return false;
  const { slug, name, messages, variables = {}, response_format: format = {}, labels = {} } = value;
  return (
    typeof slug === 'string' &&
    typeof name === 'string' &&
    Array.isArray(messages) &&
    messages.every((message) => isObject(message) && typeof message['content'] === 'string') &&
    isObject(format) &&
    isObject(labels) &&
    Object.values(labels).every((version) => typeof version === 'number') &&
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
