/** What can follow in a JSON text (RFC 8259). */
type Wanted = 'value' | 'first element' | 'name' | 'first name' | 'colon' | 'more';

const blanks = /[ \t\n\r]*/y;
const characters = /[^"\\\u0000-\u001f]*/y;
const escape = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/y;

/**
 * Finds where a text stops being JSON: `JSON.parse` does not always say it.
 *
 * @param from where the JSON begins
 * @returns an index; the length of the text if it ends too early; undefined if it is JSON
 */
export function findJsonMistake(text: string, from = 0): number | undefined {
  const open: ('{' | '[')[] = [];
  let wanted: Wanted = 'value';
  for (let at = skip(blanks, text, from); at < text.length; at = skip(blanks, text, at)) {
    const sign = text[at];
    const isMember: boolean = wanted === 'name' || wanted === 'first name';
    if (wanted === 'colon') {
      if (sign !== ':') return at;
      wanted = 'value';
      at += 1;
    } else if ((sign === '}' || sign === ']') && wanted !== 'value' && wanted !== 'name') {
      if (open.pop() !== (sign === '}' ? '{' : '[')) return at;
      wanted = 'more';
      at += 1;
    } else if (wanted === 'more') {
      if (sign !== ',' || open.length === 0) return at;
      wanted = open.at(-1) === '{' ? 'name' : 'value';
      at += 1;
    } else if (sign === '"') {
      at = skipString(text, at);
      if (text[at] !== '"') return at;
      wanted = isMember ? 'colon' : 'more';
      at += 1;
    } else if (isMember) {
      return at;
    } else if (sign === '{' || sign === '[') {
      open.push(sign);
      wanted = sign === '{' ? 'first name' : 'first element';
      at += 1;
    } else {
      const end = skip(scalar, text, at);
      if (end === at) return at;
      wanted = 'more';
      at = end;
    }
  }
  return wanted === 'more' && open.length === 0 ? undefined : text.length;
}

/** The index after what an expression finds at a place; the place if it finds nothing. */
function skip(expression: RegExp, text: string, from: number): number {
  expression.lastIndex = from;
  return expression.test(text) ? expression.lastIndex : from;
}

/** The index of the quote at the end of a string, or of what cannot be in it. */
function skipString(text: string, start: number): number {
  let at = skip(characters, text, start + 1);
  while (text[at] === '\\') {
    const next = skip(escape, text, at);
    if (next === at) return at;
    at = skip(characters, text, next);
  }
  return at;
}
