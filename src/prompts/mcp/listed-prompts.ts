/** Prompts as MCP has them. */
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { Reach } from '../../base/limits/reach.ts';
import { readImageData } from '../../models/images.ts';
import type { Message } from '../../models/language-model.ts';
import { renderPrompt } from '../generation/render-prompt.ts';
import type { components } from '../../../generated/types.ts';
import { contentFields, type Prompt, type PromptContent } from '../prompt.ts';
import type { Prompts } from '../prompts.ts';
import { listVariables } from '../templates/variables.ts';

/** An entry of the list. */
export interface ListedPrompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: { readonly name: string; readonly description?: string; readonly required: boolean }[];
}

/** A message of a prompt with its arguments filled in. */
export interface ListedMessage {
  readonly role: 'user' | 'assistant';
  readonly content:
    | { readonly type: 'text'; readonly text: string }
    | { readonly type: 'image'; readonly data: string; readonly mimeType: string }
    | { readonly type: 'resource_link'; readonly uri: string; readonly name: string };
}

/** The label of the version that others use. */
const released = 'production';

/** The version that the label names, else the latest. */
async function contentOf(
  { id, labels = [] }: Pick<Prompt, 'id' | 'labels'>,
  prompts: Pick<Prompts, 'resolve'>,
  reach: Reach | undefined,
): Promise<PromptContent> {
  const hasLabel = labels.some(({ name }) => name === released);
  return (await prompts.resolve(id, { ...(hasLabel && { label: released }), reach })).content;
}

/**
 * @param prompt as its operation shows it, with its latest content
 * @returns undefined for one that is not listed, because it has no description
 */
export async function toListedPrompt(
  prompt: components['schemas']['Prompt'],
  prompts: Pick<Prompts, 'resolve'>,
  reach: Reach | undefined,
): Promise<ListedPrompt | undefined> {
  const described = shown(prompt.description ?? '');
  if (described === '') return undefined;
  const version = prompt.labels?.[released] ?? prompt.version;
  const content =
    version === prompt.version
      ? prompt
      : contentFields.show((await prompts.resolve(prompt.id, { version, reach })).content);
  const { tools = [], response_format: format } = content;
  const more = [
    ...(tools.length > 0 ? [`It uses the tools ${tools.map(({ name }) => name).join(', ')}.`] : []),
    ...(format?.type === 'json' ? ['It asks for an answer in JSON.'] : []),
  ];
  return {
    name: prompt.slug,
    title: shown(prompt.name),
    description: [described, ...more].join('\n\n'),
    arguments: listVariables(content).map(({ name, description, required }) => ({
      name,
      ...(description !== undefined && { description: shown(description) }),
      required,
    })),
  };
}

/**
 * The messages of a prompt.
 *
 * @param values of its variables, by name
 * @throws {ProblemError} prompt-not-found, also for one that is not listed; missing-variables, unknown-variables,
 *   rendered-prompt-too-large
 */
export async function toMessages(
  slug: string,
  values: Readonly<Record<string, string>>,
  prompts: Pick<Prompts, 'get' | 'resolve'>,
  reach: Reach | undefined,
): Promise<{ readonly description: string; readonly messages: readonly ListedMessage[] }> {
  const prompt = await prompts.get(slug, reach);
  const description = shown(prompt.description ?? '');
  if (description === '') {
    throw new ProblemError('prompt-not-found', {
      detail: `The prompt ${JSON.stringify(slug)} has no description, so MCP does not have it.`,
    });
  }
  const { messages } = renderPrompt(await contentOf(prompt, prompts, reach), values);
  return { description, messages: withoutSystem(messages).flatMap(toListedMessages) };
}

type Spoken = Pick<Message, 'content'> & { readonly role: 'user' | 'assistant' };

/** MCP has no system messages: their text is the begin of the conversation. */
function withoutSystem(messages: readonly Message[]): Spoken[] {
  const spoken = messages.flatMap((message): Spoken[] =>
    message.role === 'user' || message.role === 'assistant' ? [{ role: message.role, content: message.content }] : [],
  );
  const system = messages.filter(({ role }) => role === 'system' || role === 'developer');
  if (system.length === 0) return spoken;
  const heading = { type: 'text', text: 'This is the system message of the prompt:' } as const;
  const parts = system.flatMap(({ content }) =>
    typeof content === 'string' ? [{ type: 'text', text: content } as const] : content,
  );
  return [{ role: 'user', content: joined([heading, ...parts]) } as Spoken, ...spoken];
}

/** Texts that follow one another are one. */
function joined(
  parts: readonly Exclude<Message['content'], string>[number][],
): Exclude<Message['content'], string>[number][] {
  const all: Exclude<Message['content'], string>[number][] = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (part.type === 'text' && last?.type === 'text')
      all[all.length - 1] = { type: 'text', text: `${last.text}\n\n${part.text}` };
    else all.push(part);
  }
  return all;
}

/** A message has one part there. */
function toListedMessages({ role, content }: Spoken): ListedMessage[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content;
  return parts.flatMap((part): ListedMessage[] => {
    if (part.type === 'text') return [{ role, content: { type: 'text', text: part.text } }];
    if (part.type !== 'image') return [];
    const image = readImageData(part.url);
    if (image === undefined) return [{ role, content: { type: 'resource_link', uri: part.url, name: 'image' } }];
    return [{ role, content: { type: 'image', data: image.base64, mimeType: image.mediaType } }];
  });
}

/** The most characters of a text that a list shows. */
const longest = 2_000;

/** A text for lists, which editors show as it is: without control characters, and characters that turn text around. */
function shown(text: string): string {
  return text
    .replaceAll(/[^\P{Cc}\n]|[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu, '')
    .trim()
    .slice(0, longest)
    .toWellFormed();
}
