import { compactJson, type JsonValue } from './compact-json.ts';
import { MissingVariablesError, RenderedPromptTooLargeError } from './errors.ts';
import { parseTemplate, type Template } from './parse.ts';

export { MissingVariablesError, RenderedPromptTooLargeError } from './errors.ts';
export { parseTemplate, type Placeholder, type Template } from './parse.ts';

/** The value of a template variable: anything JSON can say. `null` counts as not supplied. */
export type VariableValue = JsonValue;

/** What a prompt says about one of its variables. */
export interface VariableDefinition {
  /** Used when no value is supplied. */
  readonly default?: string | undefined;
  readonly description?: string | undefined;
  /** When true, rendering fails unless a value is supplied: no default stands in for it. */
  readonly required?: boolean | undefined;
}

/** A prompt's variables by name. */
export type VariableDefinitions = Readonly<Record<string, VariableDefinition>>;

/** A chat message; before rendering its content is a template. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** Bounds of one rendering. */
export interface RenderLimits {
  /** Most that all rendered texts may have together, in UTF-16 code units (a string's `length`). */
  readonly maxLength: number;
}

/** 4 Mi UTF-16 code units: at most 8 MiB of memory, 12 MiB of UTF-8. */
export const defaultRenderLimits: RenderLimits = { maxLength: 4 * 1024 * 1024 };

/**
 * Renders the messages of a prompt. Values that no placeholder uses are ignored.
 *
 * @param declared the prompt's variable definitions
 * @param supplied the caller's values as `JSON.parse` made them; names are looked up as own properties only
 * @throws MissingVariablesError naming every missing variable of all messages
 * @throws RenderedPromptTooLargeError before anything of that size is built
 */
export function renderMessages(
  messages: readonly Message[],
  declared: VariableDefinitions | undefined,
  supplied: Readonly<Record<string, unknown>> | undefined,
  limits: RenderLimits = defaultRenderLimits,
): Message[] {
  const templates = messages.map((message) => parseTemplate(message.content));
  const texts = renderTemplates(templates, declared, supplied, limits);
  return messages.map(({ role }, index) => ({ role, content: texts[index] ?? '' }));
}

/** Renders one parsed template; parameters and errors as for `renderMessages`. */
export function renderTemplate(
  template: Template,
  declared: VariableDefinitions | undefined,
  supplied: Readonly<Record<string, unknown>> | undefined,
  limits: RenderLimits = defaultRenderLimits,
): string {
  return renderTemplates([template], declared, supplied, limits).join('');
}

/**
 * Looks everything up and adds up the lengths before it joins: a template of a megabyte may name a value of a megabyte
 * some hundred thousand times.
 */
function renderTemplates(
  templates: readonly Template[],
  declared: VariableDefinitions = {},
  supplied: Readonly<Record<string, unknown>> = {},
  limits: RenderLimits,
): string[] {
  const lookUp = variableLookup(declared, supplied);
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
  if (missing.size > 0) throw new MissingVariablesError([...missing]);
  if (length > limits.maxLength) throw new RenderedPromptTooLargeError(length, limits.maxLength);
  return resolved.map((texts) => texts.join(''));
}

/** What is known of a variable whatever placeholder asks for it. */
interface Variable {
  /** The supplied value as text, else the definition's default. */
  readonly text: string | undefined;
  /** Comes after a placeholder's inline default: the empty string for a declared variable. */
  readonly fallback: '' | undefined;
  /** Required, and not supplied. */
  readonly mustBeSupplied: boolean;
}

/** Finds variables by name, writing each value as text once however many placeholders use it. */
function variableLookup(
  declared: VariableDefinitions,
  supplied: Readonly<Record<string, unknown>>,
): (name: string) => Variable {
  const known = new Map<string, Variable>();
  return (name) => {
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
}

/** Strings as they are, numbers and booleans as JSON, arrays and objects as compact JSON. */
function valueText(value: JsonValue): string {
  return typeof value === 'string' ? value : compactJson(value);
}
