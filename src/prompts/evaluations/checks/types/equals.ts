import { isDeepStrictEqual } from 'node:util';
import { finding, shown, valueText, type CheckType } from '../check-type.ts';

/**
 * The answer is the value. JSON is compared as JSON: a value that is not a text, or whose text is that of an object or
 * list.
 */
export const equals: CheckType = {
  takes: 'value',
  async find({ part, value }) {
    const say = (holds: boolean) =>
      finding(part, holds, `is ${shown(valueText(value))}`, `is not ${shown(valueText(value))}`);
    if (part.text === value) return say(true);
    const wanted = typeof value === 'string' ? containerOf(value) : value;
    if (wanted === undefined) return say(false);
    const json = await part.json();
    if ('value' in json) return say(isDeepStrictEqual(json.value, wanted));
    return json.holds === false ? say(false) : json;
  },
};

/** @returns the object or list of a text; undefined if it has none */
function containerOf(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}
