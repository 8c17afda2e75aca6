const space = /[ \t\n\r]*/y;
const string = /"(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
/** Settings are not nested deeper. */
const maxDepth = 100;
const other = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/**
 * Where a text stops being JSON (RFC 8259): the first character that cannot be there, or the quotation mark of a string
 * with a mistake. The messages of `JSON.parse` do not always have the position, and quote the text, which can contain
 * secrets.
 *
 * @returns the position in words, with line and column from 1; undefined for JSON
 */
export function findJsonMistake(text: string): string | undefined {
  let at = 0;
  let depth = 0;
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    at += found?.[0].length ?? 0;
    return found !== null;
  };
  const next = (): string | undefined => {
    skip(space);
    return text[at];
  };
  /** Reads what is between brackets. @returns whether it is valid */
  const list = (end: string, entry: () => boolean): boolean => {
    if (depth === maxDepth) return false;
    depth += 1;
    at += 1;
    let isWhole = next() === end;
    while (!isWhole && entry()) {
      const mark = next();
      if (mark !== ',' && mark !== end) return false;
      isWhole = mark === end;
      if (!isWhole) at += 1;
    }
    if (isWhole) at += 1;
    depth -= 1;
    return isWhole;
  };
  const member = (): boolean => {
    if (next() !== '"' || !skip(string) || next() !== ':') return false;
    at += 1;
    return value();
  };
  const value = (): boolean => {
    const mark = next();
    if (mark === '{') return list('}', member);
    if (mark === '[') return list(']', value);
    return mark === '"' ? skip(string) : skip(other);
  };
  if (value() && next() === undefined) return undefined;
  const lines = text.slice(0, at).split('\n');
  const place = `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
  return at < text.length ? place : `its end (${place})`;
}
