import { parseTemplate } from './parse.ts';
import { textsOf, type Content as MessageContent, type VariableDefinitions } from './render.ts';

/** A probable mistake in the content of a prompt. */
export interface ContentWarning {
  readonly code: 'not-a-placeholder' | 'unused-variable';
  /** A sentence about the mistake. */
  readonly detail: string;
  /** JSON Pointer into the content as a URI fragment (RFC 6901, section 6). */
  readonly pointer: string;
}

interface Content {
  readonly messages: readonly { readonly content: MessageContent }[];
  readonly variables?: VariableDefinitions | undefined;
}

/** The most warnings of one answer. */
const maxWarnings = 100;
/** The most characters of text that a warning quotes. */
const shown = 60;
/** `{name}}`: one brace too few where a placeholder begins. */
const halfOpened = /(?<!\{)\{[ \t]*[A-Za-z_][A-Za-z0-9_.-]{0,63}[ \t]*\}\}/g;

/**
 * Finds probable mistakes in a prompt's content: text that looks like a placeholder but is not one, and declared
 * variables that no placeholder uses. At most 100.
 */
export function contentWarnings({ messages, variables }: Content): ContentWarning[] {
  const warnings: ContentWarning[] = [];
  const warn = (warning: () => ContentWarning): void => {
    if (warnings.length < maxWarnings) warnings.push(warning());
  };
  const used = new Set<string>();
  for (const { text, pointer } of messages.flatMap(({ content }, index) => placesOf(content, index))) {
    const notAPlaceholder = (quoted: string): void => {
      warn(() => ({
        code: 'not-a-placeholder',
        detail: `${JSON.stringify(quoted)} is not a placeholder; it is sent unchanged`,
        pointer,
      }));
    };
    const template = parseTemplate(text, (at) => {
      notAPlaceholder(excerpt(text, at));
    });
    for (const part of template) {
      if (typeof part !== 'string') used.add(part.name);
      else for (const [quoted] of part.matchAll(halfOpened)) notAPlaceholder(quoted);
    }
  }
  for (const name of Object.keys(variables ?? {})) {
    if (used.has(name)) continue;
    warn(() => ({ code: 'unused-variable', detail: 'is not used by a placeholder', pointer: `#/variables/${name}` }));
  }
  return warnings;
}

/** Names of the variables that placeholders use, in the order of their first use. */
export function usedVariables(messages: Content['messages']): string[] {
  const parts = messages.flatMap(({ content }) => textsOf(content)).flatMap((text) => parseTemplate(text));
  return [...new Set(parts.flatMap((part) => (typeof part === 'string' ? [] : [part.name])))];
}

/** The templates of a message, each with its place. */
function placesOf(content: MessageContent, index: number): { text: string; pointer: string }[] {
  const pointer = `#/messages/${index}/content`;
  if (typeof content === 'string') return [{ text: content, pointer }];
  return content.flatMap(({ text, url }, part) => [
    ...(text === undefined ? [] : [{ text, pointer: `${pointer}/${part}/text` }]),
    ...(url === undefined ? [] : [{ text: url, pointer: `${pointer}/${part}/url` }]),
  ]);
}

/** The text from `index` to the end of what looks like a placeholder, within its line; shortened if it is long. */
function excerpt(text: string, from: number): string {
  const [line = ''] = text.slice(from, from + shown).split(/[\r\n]/, 1);
  const close = line.indexOf('}');
  if (close === -1) return line.toWellFormed();
  return line.slice(0, line[close + 1] === '}' ? close + 2 : close + 1).toWellFormed();
}
