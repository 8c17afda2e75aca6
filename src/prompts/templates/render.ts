import { compactJson, type JsonValue } from './compact-json.ts';
import { MissingVariablesError, RenderedPromptTooLargeError } from './template-errors.ts';
import { parseTemplate, type Template } from './parse.ts';

export { MissingVariablesError, RenderedPromptTooLargeError } from './template-errors.ts';
export { parseTemplate, type Template } from './parse.ts';

/** The definition of a variable in a prompt. */
export interface VariableDefinition {
  /** Used when no value is supplied. */
  readonly default?: string | undefined;
  readonly description?: string | undefined;
  /** If true, rendering fails unless a value is supplied, even if there is a default. */
  readonly required?: boolean | undefined;
}

/** A prompt's variables by name. */
export type VariableDefinitions = Readonly<Record<string, VariableDefinition>>;

/** A text (`text`) or an image (`image`, with its `url`), or a kind that a later release adds. */
export interface ContentPart {
  readonly type: string;
  readonly text?: string;
  readonly url?: string;
  /** A hint to keep everything up to here in the provider's own cache. */
  readonly cache_control?: { readonly type: string; readonly ttl?: string };
}

/** The content of a message: a text, or parts in their order. */
export type Content = string | readonly ContentPart[];

/** A chat message; before rendering the texts and addresses of its content are templates. */
export interface Message<Role extends string = 'system' | 'user' | 'assistant'> {
  readonly role: Role;
  readonly content: Content;
}

/** Bounds of one rendering. */
export interface RenderLimits {
  /** The largest length of all rendered texts together, in UTF-16 code units (a string's `length`). */
  readonly maxLength: number;
}

/** 4 Mi UTF-16 code units: at most 8 MiB of memory, 12 MiB of UTF-8. */
const defaultRenderLimits: RenderLimits = { maxLength: 4 * 1024 * 1024 };

/** A rendered prompt. */
export interface Rendering<Role extends string = Message['role']> {
  readonly messages: Message<Role>[];
  /** Names of supplied variables that are neither declared nor used, in the order in which they were supplied. */
  readonly unknown: readonly string[];
}

/**
 * Renders the messages of a prompt. Values that no placeholder uses are ignored.
 *
 * @param declared the prompt's variable definitions
 * @param supplied the caller's values as `JSON.parse` made them; names are looked up as own properties only
 * @param templates what `templatesOf` returned for these messages
 * @throws MissingVariablesError naming every missing variable of all messages
 * @throws RenderedPromptTooLargeError before a text of that size is built
 */
export function renderMessages<Role extends string>(
  messages: readonly Message<Role>[],
  declared: VariableDefinitions | undefined,
  supplied: Readonly<Record<string, unknown>> | undefined,
  limits: RenderLimits = defaultRenderLimits,
  templates: readonly Template[] = templatesOf(messages),
): Rendering<Role> {
  const { texts, unknown } = renderTemplates(templates, declared, supplied, limits);
  const rendered = texts.values();
  return {
    messages: messages.map(({ role, content }) => ({ role, content: withTexts(content, rendered) })),
    unknown,
  };
}

/** Parses the texts and addresses of messages, in their order. */
export function templatesOf(messages: readonly Pick<Message, 'content'>[]): Template[] {
  return messages.flatMap(({ content }) => textsOf(content)).map((text) => parseTemplate(text));
}

/** The texts and addresses of a content, in their order. */
export function textsOf(content: Content): string[] {
  return typeof content === 'string' ? [content] : content.flatMap(({ text, url }) => [text ?? [], url ?? []].flat());
}

/** The content with other texts and addresses, of which it takes as many as it has. */
function withTexts(content: Content, texts: Iterator<string, unknown>): Content {
  const next = (): string => {
    const { value } = texts.next();
    return typeof value === 'string' ? value : '';
  };
  if (typeof content === 'string') return next();
  return content.map((part) => ({
    ...part,
    ...(part.text !== undefined && { text: next() }),
    ...(part.url !== undefined && { url: next() }),
  }));
}

/** Renders one parsed template; parameters and errors as for `renderMessages`. */
export function renderTemplate(
  template: Template,
  declared: VariableDefinitions | undefined,
  supplied: Readonly<Record<string, unknown>> | undefined,
  limits: RenderLimits = defaultRenderLimits,
): string {
  return renderTemplates([template], declared, supplied, limits).texts.join('');
}

/**
 * Looks up all values and adds their lengths before it joins them: a template of a megabyte can use a value of a
 * megabyte a hundred thousand times.
 */
function renderTemplates(
  templates: readonly Template[],
  declared: VariableDefinitions = {},
  supplied: Readonly<Record<string, unknown>> = {},
  limits: RenderLimits,
): { texts: string[]; unknown: string[] } {
  const { lookUp, isUsed } = variableLookup(declared, supplied);
  const missing = new Set<string>();
  let length = 0;
  const resolved = templates.map((template) =>
    template.map((part) => {
      let text: string | undefined;
      if (typeof part === 'string') {
        text = part;
      } else {
        const variable = lookUp(part.name);
        text = variable.mustBeSupplied ? undefined : (variable.text ?? part.inlineDefault ?? variable.fallback);
        if (text === undefined) missing.add(part.name);
      }
      length += text?.length ?? 0;
      return text ?? '';
    }),
  );
  for (const name of Object.keys(declared)) {
    if (lookUp(name).mustBeSupplied) missing.add(name);
  }
  // Declared variables have been looked up before.
  const unknown = Object.keys(supplied).filter((name) => !isUsed(name));
  if (missing.size > 0) throw new MissingVariablesError([...missing], unknown);
  if (length > limits.maxLength) throw new RenderedPromptTooLargeError(length, limits.maxLength);
  return { texts: resolved.map((parts) => parts.join('')), unknown };
}

/** The value of a variable, independent of the placeholder. */
interface Variable {
  /** The supplied value as text, else the definition's default. */
  readonly text: string | undefined;
  /** Comes after a placeholder's inline default: the empty string for a declared variable. */
  readonly fallback: '' | undefined;
  /** Required, and not supplied. */
  readonly mustBeSupplied: boolean;
}

/** Finds variables by name. It converts each value to text once, however many placeholders use it. */
function variableLookup(
  declared: VariableDefinitions,
  supplied: Readonly<Record<string, unknown>>,
): { lookUp: (name: string) => Variable; isUsed: (name: string) => boolean } {
  const known = new Map<string, Variable>();
  const lookUp = (name: string): Variable => {
    let variable = known.get(name);
    if (variable === undefined) {
      const definition = Object.hasOwn(declared, name) ? declared[name] : undefined;
      const value = Object.hasOwn(supplied, name) ? supplied[name] : undefined;
      const isSupplied = value !== undefined && value !== null;
      variable = {
        text: isSupplied ? valueText(value as JsonValue) : definition?.default,
        fallback: definition === undefined ? undefined : '',
        mustBeSupplied: definition?.required === true && !isSupplied,
      };
      known.set(name, variable);
    }
    return variable;
  };
  return { lookUp, isUsed: (name) => known.has(name) };
}

/** Strings unchanged, numbers and booleans as JSON, arrays and objects as compact JSON. */
function valueText(value: JsonValue): string {
  return typeof value === 'string' ? value : compactJson(value);
}
