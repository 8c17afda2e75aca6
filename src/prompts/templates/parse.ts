/** A place in a template for the value of a variable. */
export interface Placeholder {
  readonly name: string;
  /** The text between `|` and `}}`, as written; undefined when there is no `|`. May be empty. */
  readonly inlineDefault: string | undefined;
}

/** A parsed template: plain text and placeholders in their order. */
export type Template = readonly (string | Placeholder)[];

const maxNameLength = 64;

/**
 * Splits a template into plain text and placeholders. Every text is a template: nothing throws.
 *
 * - A placeholder is `{{`, blanks (spaces and tabs), a name `[A-Za-z_][A-Za-z0-9_.-]{0,63}`, blanks, and either `}}` or
 *   `|`, default text up to the next `}}`, taken as written.
 * - `\{{` is a literal `{{`. A backslash anywhere else is a backslash, so `\\{{` is a backslash and a literal `{{`.
 * - Everything else is plain text. After a `{{` that does not begin a placeholder the search continues at its second
 *   brace, so `{{{name}}}` is a placeholder in braces.
 *
 * One pass from left to right, in linear time.
 *
 * @param onStray called with the index of each `{{` that does not begin a placeholder and is not escaped
 */
export function parseTemplate(text: string, onStray?: (at: number) => void): Template {
  const parts: (string | Placeholder)[] = [];
  const lastClose = text.lastIndexOf('}}');
  let textStart = 0;
  let open = text.indexOf('{{');
  while (open !== -1) {
    let next = open + 1;
    if (text[open - 1] === '\\') {
      if (open - 1 > textStart) parts.push(text.slice(textStart, open - 1));
      textStart = open;
      next = open + 2;
    } else {
      const found = readPlaceholder(text, open, lastClose);
      if (found !== undefined) {
        if (open > textStart) parts.push(text.slice(textStart, open));
        parts.push(found.placeholder);
        textStart = found.end;
        next = found.end;
      } else if (text[next + 1] !== '{') {
        onStray?.(open);
      }
    }
    open = text.indexOf('{{', next);
  }
  if (textStart < text.length) parts.push(text.slice(textStart));
  return parts;
}

/**
 * Reads the placeholder whose `{{` is at `open`; undefined if there is none. `lastClose` is the position of the text's
 * last `}}`. After it no search is made, because many searches for unclosed defaults would take quadratic time.
 */
function readPlaceholder(
  text: string,
  open: number,
  lastClose: number,
): { placeholder: Placeholder; end: number } | undefined {
  const nameStart = skipBlanks(text, open + 2);
  const nameEnd = skipName(text, nameStart);
  if (nameEnd === nameStart) return undefined;
  const name = text.slice(nameStart, nameEnd);
  const after = skipBlanks(text, nameEnd);
  if (text.startsWith('}}', after)) return { placeholder: { name, inlineDefault: undefined }, end: after + 2 };
  if (text[after] !== '|' || after + 1 > lastClose) return undefined;
  const close = text.indexOf('}}', after + 1);
  return { placeholder: { name, inlineDefault: text.slice(after + 1, close) }, end: close + 2 };
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at++;
  return at;
}

/** The end of the name that starts at `from`; `from` itself if there is no name. */
function skipName(text: string, from: number): number {
  if (!isNameStart(text.charCodeAt(from))) return from;
  const limit = from + maxNameLength;
  let at = from + 1;
  while (at < limit && isNamePart(text.charCodeAt(at))) at++;
  return at;
}

/** `[A-Za-z_]`. Past the end of a text `charCodeAt` gives NaN, which is in no range. */
function isNameStart(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f;
}

/** `[A-Za-z0-9_.-]` */
function isNamePart(code: number): boolean {
  return isNameStart(code) || (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2e;
}
