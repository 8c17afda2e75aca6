import type { Schemas } from 'prompt-gateway-client';
import type { Generation } from './generation-draft.ts';
import { generationText, type GenerationWords } from './generation-text.ts';
import { shortUrl } from './image-url.ts';

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

type Content = Generation &
  Pick<Schemas['PromptVersion'], 'messages' | 'variables' | 'strict' | 'selected_provider' | 'selected_model'>;

/** The content of a version as one text for people, so that a difference of two texts shows what changed. */
export function contentText(content: Content, words: ContentWords): string {
  const { messages, variables, strict = false, selected_provider, selected_model } = content;
  const generation = generationText(content, words.generation);
  return [
    `${words.provider}: ${selected_provider ?? words.none}`,
    `${words.model}: ${selected_model ?? words.none}`,
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
export function messagesText(messages: Content['messages'], words: Pick<ContentWords, 'roles' | 'image'>): string {
  return messages
    .map(({ role, content }) => {
      const parts = typeof content === 'string' ? [content] : content.map((part) => partText(part, words));
      return [`── ${words.roles[role] ?? role} ──`, ...parts].join('\n');
    })
    .join('\n\n');
}

function partText(part: Schemas['ContentPart'], { image }: Pick<ContentWords, 'image'>): string {
  if (part.type === 'text') return part.text ?? '';
  return part.type === 'image' ? `[${image}: ${shortUrl(part.url ?? '')}]` : JSON.stringify(part);
}

/** The definitions of the variables; empty if there are none. */
export function variablesText(variables: Content['variables'], words: ContentWords): string {
  const lines: string[] = [];
  for (const [name, definition] of Object.entries(variables ?? {})) {
    lines.push(definition.required === true ? `${name} (${words.required})` : name);
    if (definition.default !== undefined) lines.push(`    ${words.default}: ${JSON.stringify(definition.default)}`);
    if (definition.description !== undefined) lines.push(`    ${words.purpose}: ${definition.description}`);
  }
  return lines.join('\n');
}
