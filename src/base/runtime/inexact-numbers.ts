import type { JsonPath } from './json-pointer.ts';

/**
 * Numbers that JavaScript would change. `JSON.parse` reads every number as an IEEE 754 double: 1234567890123456789
 * becomes 1234567890123456800, and 1e999 becomes infinity (RFC 8259, section 6). Here a number is *exact* if the
 * double, written as text again, has the same value, as 0.1 and 1e23 do. Every number of at most 15 significant digits
 * within the range of doubles is exact.
 */

/**
 * Sixteen consecutive digits and points, which can be in a string. The form of the expression makes the search fast.
 */
const long = /[\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.]{9}/;
/** An exponent after something that looks like a number. It can be in a string; few UUIDs match. */
const exponential = /[eE][-+\d](?<=[:,[\s]-?[\d.]+[eE].)/;

/**
 * Finds the first number in a JSON text that is not exact. It takes linear time, and almost none if no number is long.
 *
 * @param text valid JSON
 * @param except where numbers need not be exact: the values at this path, with all that they contain
 * @returns its place, as member names and indexes from the outside in
 */
export function findInexactNumber(text: string, except?: JsonPath): (string | number)[] | undefined {
  if (!long.test(text) && !exponential.test(text)) return undefined;
  /** For each open array the index of the current element, for each open object the range of its current name. */
  const open: Step[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const inside = open.at(-1);
    switch (text[at]) {
      case '{':
        open.push({ start: 0, end: 0 });
        break;
      case '[':
        open.push(0);
        break;
      case '}':
      case ']':
        open.pop();
        break;
      case ',':
        if (typeof inside === 'number') open[open.length - 1] = inside + 1;
        break;
      case '"': {
        const end = endOfString(text, at);
        if (typeof inside === 'object' && text[skipBlanks(text, end)] === ':')
          Object.assign(inside, { start: at, end });
        at = end - 1;
        break;
      }
      default: {
        const end = endOfNumber(text, at);
        if (end - at > 1 && !isExact(text.slice(at, end))) {
          const isExcepted = except?.every((wanted, depth) => isStep(open[depth], wanted, text));
          if (!isExcepted) return open.map((step) => nameOf(step, text));
        }
        at = Math.max(at, end - 1);
      }
    }
  }
  return undefined;
}

/** An array's index, or the range of a member's name. */
type Step = number | { start: number; end: number };

function isStep(step: Step | undefined, wanted: string | null, text: string): boolean {
  if (step === undefined) return false;
  return wanted === null ? typeof step === 'number' : nameOf(step, text) === wanted;
}

function nameOf(step: Step, text: string): string | number {
  return typeof step === 'number' ? step : (JSON.parse(text.slice(step.start, step.end)) as string);
}

/** At most 15 digits, and an exponent far from the ends of the range: always exact. */
const plain = /^-?[\d.]{1,15}(?:[eE][-+]?(?:\d{1,2}|1\d\d|2[0-8]\d))?$/;

/** No double needs as many characters. Longer numbers have needless zeros, and would take long to read. */
const mostCharacters = 1_100;

/** Whether the double, written as text again, has the value of this JSON number. */
export function isExact(literal: string): boolean {
  if (plain.test(literal)) return true;
  if (literal.length > mostCharacters) return false;
  const value = Number(literal);
  const text = String(value);
  if (text === literal || plain.test(withoutLastZeros(literal))) return true;
  if (!Number.isFinite(value)) return false;
  const [written, kept] = [decimal(literal), decimal(text)];
  return written.digits === kept.digits && (written.digits === '' || written.exponent === kept.exponent);
}

const zero = 0x30;

/** The same number without zeros at the end of its fraction. */
function withoutLastZeros(literal: string): string {
  let end = literal.length;
  while (end > 1 && literal.charCodeAt(end - 1) === zero) end -= 1;
  return literal.slice(0, end).includes('.') && !/[eE]/.test(literal) ? literal.slice(0, end) : literal;
}

/** A number's significant digits, and the power of ten to multiply them by. The sign is left out. */
function decimal(literal: string): { digits: string; exponent: number } {
  const [mantissa = '', power = '0'] = literal.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const all = whole + fraction;
  let start = 0;
  while (all.charCodeAt(start) === zero) start += 1;
  let end = all.length;
  while (end > start && all.charCodeAt(end - 1) === zero) end -= 1;
  return { digits: all.slice(start, end), exponent: Number(power) - fraction.length + all.length - end };
}

const backslash = 0x5c;
const quotationMark = 0x22;

/** The index after the string of a JSON text that begins at `start`; 0 if it has no end. */
export function endOfString(text: string, start: number): number {
  const quote = text.indexOf('"', start + 1);
  if (quote === -1) return 0;
  let backslashes = 0;
  while (text.charCodeAt(quote - 1 - backslashes) === backslash) backslashes += 1;
  if (backslashes % 2 === 0) return quote + 1;
  // Looking for one quotation mark after the other takes long if there are millions.
  for (let at = quote + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === backslash) at += 1;
    else if (code === quotationMark) return at + 1;
  }
  return 0;
}

/** The index after the number that begins at `start`; `start` itself if there is none. */
function endOfNumber(text: string, start: number): number {
  let at = start;
  while (isPartOfNumber(text.charCodeAt(at))) at += 1;
  return at;
}

/**
 * Digits, `+`, `-`, `.`, `e` and `E`. A literal such as `true` also ends with one of these letters, but it is too short
 * for a long number.
 */
function isPartOfNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x2e || (code | 0x20) === 0x65;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at += 1;
  return at;
}
