import type { components } from '../../../../generated/types.ts';
import { compactJson, type JsonValue } from '../../templates/compact-json.ts';
import { parseTemplate, renderTemplate } from '../../templates/render.ts';
import { RenderedPromptTooLargeError } from '../../templates/template-errors.ts';

/** Of a case, what the values of checks can name. */
export type CheckedCase = Pick<components['schemas']['DatasetCase'], 'expected' | 'variables' | 'messages'>;

/** The longest texts and values in a value together, in UTF-16 code units. */
const maxLength = 1024 * 1024;

/**
 * The value of a check for a case: every text in it is a template. One that is nothing but a placeholder becomes the value
 * itself, so that `{{expected}}` can be an object or a list.
 *
 * @throws MissingVariablesError
 * @throws RenderedPromptTooLargeError
 */
export function renderValue(value: unknown, { expected, variables }: CheckedCase): unknown {
  const supplied: Readonly<Record<string, unknown>> = { ...variables, ...(expected !== undefined && { expected }) };
  let left = maxLength;
  const lengths = new Map<unknown, number>();
  /** Counts a value each time, because what is made of the whole contains it each time. */
  const count = (whole: unknown): void => {
    const length = lengths.get(whole) ?? compactJson(whole as JsonValue).length;
    lengths.set(whole, length);
    if (length > left) throw new RenderedPromptTooLargeError(maxLength - left + length, maxLength);
    left -= length;
  };
  const render = (part: unknown): unknown => {
    if (typeof part === 'string') {
      const whole = valueNamedBy(part, supplied);
      if (whole !== undefined) {
        count(whole);
        return whole;
      }
      const text = renderTemplate(parseTemplate(part), undefined, supplied, { maxLength: left });
      left -= text.length;
      return text;
    }
    if (Array.isArray(part)) return part.map(render);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, render(member)]));
  };
  return render(value);
}

/** @returns undefined if it is not just a placeholder, or its variable has no value or a text */
function valueNamedBy(text: string, supplied: Readonly<Record<string, unknown>>): unknown {
  const [placeholder, ...more] = parseTemplate(text);
  if (placeholder === undefined || typeof placeholder === 'string' || more.length > 0) return undefined;
  const value = Object.hasOwn(supplied, placeholder.name) ? supplied[placeholder.name] : undefined;
  return typeof value === 'string' || value === null ? undefined : value;
}
