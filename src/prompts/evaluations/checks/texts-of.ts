import { valueText } from './check-type.ts';

/** The texts of a list, or of a text that separates them by commas; in double quotes they can have commas. */
export function textsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(valueText);
  const separated = valueText(value).match(/\s*"(?:[^"]|"")*"\s*(?=,|$)|[^,]+/g) ?? [];
  const texts = separated.map((text) => text.trim()).filter((text) => text !== '');
  return texts.map((text) => (/^".*"$/s.test(text) ? text.slice(1, -1).replaceAll('""', '"') : text));
}
