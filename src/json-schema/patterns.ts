import { RE2JS, RE2Set } from 're2js';

/** Only for the syntax: it never runs on a text. The thread of the checks replaces the global of this name. */
const NativeRegExp = RegExp;

/**
 * A regular expression of a schema, on an engine whose time is linear in the text (RE2). It has the part of `RegExp`
 * that the interpreter of schemas uses.
 */
export class LinearPattern {
  readonly #pattern: RE2JS;

  /** @throws if {@link findPatternMistake} finds a mistake in the source */
  constructor(source: string) {
    this.#pattern = RE2JS.compile(translate(source));
  }

  test(text: string): boolean {
    return this.#pattern.test(text);
  }
}

/**
 * @param source a regular expression as ECMA-262 describes it for the flag `u`; escaped punctuation is accepted
 * @returns what is wrong with it, or undefined
 */
export function findPatternMistake(source: string): string | undefined {
  let translated: string;
  try {
    translated = translate(source);
  } catch {
    return 'is not a regular expression of ECMA-262 (flag u)';
  }
  try {
    // Parses, but does not build the program, which counted repetitions can make a thousand times as large.
    new RE2Set().add(translated);
  } catch {
    return 'must match in linear time: look-around, back-references, Unicode properties with long names and repetitions above 1,000 are not supported';
  }
  return undefined;
}

/**
 * How much work it is to read a pattern: its characters, with 30 more for each Unicode property and one more for each 50
 * counted repetitions.
 */
export function weightOf(source: string): number {
  let weight = source.length;
  for (const [part, least, most] of source.matchAll(/\\p|\{(\d{1,4})(?:,(\d{0,4}))?\}/gi)) {
    weight += part.startsWith('{') ? Number(most || least) / 50 : 30;
  }
  return weight;
}

/** A backslash and what it escapes; a surrogate pair is one character. */
const escapes = /\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|[^])/gi;

/**
 * @returns the same expression in the syntax of RE2
 * @throws {SyntaxError} if it is not an expression of ECMA-262
 */
function translate(source: string): string {
  const normal = source.replace(escapes, (escape: string, high?: string, low?: string) => {
    if (high !== undefined && low !== undefined) {
      const character = String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16));
      return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
    }
    // RE2 would read it as the letter k.
    if (escape === '\\k') return '\\1';
    // Schemas often escape characters that the flag u does not allow to be escaped, such as `\-` and `\@`.
    return /^\\[!-/:-@[-`{-~ ]$/.test(escape) ? `\\x${escape.charCodeAt(1).toString(16)}` : escape;
  });
  return RE2JS.translateRegExp(new NativeRegExp(normal, 'u').source);
}
