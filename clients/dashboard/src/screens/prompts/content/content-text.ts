import type { GenerationWords } from '../generation/section.ts';
import { generationText } from '../generation/sections.ts';
import { hintLines } from './cache-hint.ts';
import { shortUrl } from './image-url.ts';
import type { ContentDraft, DraftPart } from './prompt-draft.ts';

/** Headings and words of a prompt's content as one text. */
export interface ContentWords {
  readonly provider: string;
  readonly model: string;
  readonly strict: string;
  readonly variables: string;
  readonly required: string;
  readonly default: string;
  readonly purpose: string;
  readonly none: string;
  readonly yes: string;
  readonly no: string;
  readonly image: string;
  readonly generation: GenerationWords;
  readonly roles: Readonly<Record<string, string>>;
}

/** A content as one text for people, so that a difference of two texts shows what changed. */
export function contentText(content: ContentDraft, words: ContentWords): string {
  const { messages, variables, strict, provider, model } = content;
  const generation = generationText(content.generation, words.generation);
  return [
    `${words.provider}: ${provider || words.none}`,
    `${words.model}: ${model || words.none}`,
    `${words.strict}: ${strict ? words.yes : words.no}`,
    '',
    messagesText(messages, words),
    '',
    `── ${words.variables} ──`,
    variablesText(variables, words) || words.none,
    ...(generation === '' ? [] : ['', generation]),
  ].join('\n');
}

/** The messages, each under its role; images by their address. */
export function messagesText(messages: ContentDraft['messages'], words: Pick<ContentWords, 'roles' | 'image'>): string {
  return messages
    .map(({ role, content }) => {
      const parts = typeof content === 'string' ? [content] : content.map((part) => partText(part, words));
      return [`── ${words.roles[role] ?? role} ──`, ...parts].join('\n');
    })
    .join('\n\n');
}

function partText({ key: _, ...part }: DraftPart, { image }: Pick<ContentWords, 'image'>): string {
  if (part.type !== 'text' && part.type !== 'image') return JSON.stringify(part);
  const said = part.type === 'text' ? (part.text ?? '') : `[${image}: ${shortUrl(part.url ?? '')}]`;
  return [said, ...hintLines(part.cache_control)].join('\n');
}

/** The definitions of the variables; empty if there are none. */
export function variablesText(variables: ContentDraft['variables'], words: ContentWords): string {
  const lines: string[] = [];
  for (const { name, required, default: value, description } of variables) {
    lines.push(required ? `${name} (${words.required})` : name);
    if (value !== undefined) lines.push(`    ${words.default}: ${JSON.stringify(value)}`);
    if (description !== '') lines.push(`    ${words.purpose}: ${description}`);
  }
  return lines.join('\n');
}
