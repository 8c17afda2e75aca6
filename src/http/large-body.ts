import { randomBytes } from 'node:crypto';
import { isAscii, isUtf8 } from 'node:buffer';
import type { JsonPath } from '../base/runtime/json-pointer.ts';
import type { Turns } from '../base/runtime/turns.ts';
import type { LongString } from './body-scanner.ts';
import {
  checkValues,
  halfPair,
  hasSurrogates,
  notJson,
  notUtf8,
  parseText,
  requireExactNumbers,
  textOf,
} from './parse-json.ts';

/** Bytes of a string that are parsed together. Larger texts are garbage that stays for long. */
const pieceBytes = 32 * 1024;
/** Bodies up to this size are parsed at once: it takes a millisecond or two. */
const atOnceBytes = 256 * 1024;

/**
 * Parses a large body as `JSON.parse` does, in turns, so that other requests do not wait. The long strings are cut out
 * and made one by one: with them left out, a scanned body is small enough to be parsed at once.
 *
 * @param bytes a body that `BodyScanner` has accepted, with the long strings that it has found
 * @param except where numbers need not be exact
 * @throws {ProblemError} malformed-body
 */
export async function parseLargeBody(
  bytes: Buffer,
  longStrings: readonly LongString[],
  allTurns: Turns,
  except?: JsonPath,
): Promise<unknown> {
  const turns: Turns = bytes.length > atOnceBytes ? allTurns : () => undefined;
  await turns();
  // Nobody can guess what stands for the strings.
  const mark = randomBytes(12).toString('base64');
  const plain: Buffer[] = [];
  let end = 0;
  for (const [index, string] of longStrings.entries()) {
    plain.push(bytes.subarray(end, string.start), Buffer.from(`${mark}${index}`));
    ({ end } = string);
  }
  plain.push(bytes.subarray(end));
  const text = textOf(Buffer.concat(plain));
  // V8 names a position, which is not a position in the body if strings were cut out.
  const value = parseText(text, { namesPosition: longStrings.length === 0 });
  await turns();
  if (hasSurrogates(text)) checkValues(value, true);
  requireExactNumbers(text, except);
  const strings: string[] = [];
  for (const string of longStrings) {
    await turns();
    strings.push(await makeString(bytes, string, turns));
  }
  await turns();
  const whole = strings.length === 0 ? value : withStrings(value, mark, strings);
  await turns();
  return whole;
}

async function makeString(bytes: Buffer, { start, end }: LongString, turns: Turns): Promise<string> {
  const raw = bytes.subarray(start, end);
  if (!isUtf8(raw)) throw notUtf8();
  if (isAscii(raw) && !raw.includes(0x5c)) return checked(raw.toString('latin1'), turns);
  const pieces: string[] = [];
  /** The first half of a pair whose second half is in the next piece. */
  let half = '';
  for (let from = 0; from < raw.length;) {
    await turns();
    const to = bytes.length > atOnceBytes ? endOfPiece(raw, from) : raw.length;
    const text = half + parsePiece(raw.toString('utf8', from, to));
    half = to < raw.length && isHigh(text.charCodeAt(text.length - 1)) ? text.slice(-1) : '';
    const piece = text.slice(0, text.length - half.length);
    if (!piece.isWellFormed()) throw halfPair();
    pieces.push(piece);
    from = to;
  }
  await turns();
  return pieces.join('');
}

/** A text without escapes, such as an image, is there in one step, and only looked at piece by piece. */
async function checked(text: string, turns: Turns): Promise<string> {
  for (let from = 0; from < text.length; from += pieceBytes) {
    await turns();
    parsePiece(text.slice(from, from + pieceBytes));
  }
  return text;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function parsePiece(text: string): string {
  if (!text.includes('\\')) {
    // JSON strings cannot contain these (RFC 8259, section 7).
    if (/[\u0000-\u001f]/.test(text)) throw notJson();
    return text;
  }
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    throw notJson();
  }
}

/** The end of the piece that begins at `from`: not within an escape or a character. */
function endOfPiece(raw: Buffer, from: number): number {
  if (raw.length - from <= pieceBytes) return raw.length;
  let end = from + pieceBytes;
  // An escape has at most six bytes: a backslash, `u` and four digits.
  const escape = end - 5 + raw.subarray(end - 5, end).lastIndexOf(0x5c);
  if (escape >= end - 5) {
    let first = escape;
    while (first > from && raw[first - 1] === 0x5c) first -= 1;
    const isEscaped = (escape - first) % 2 === 1;
    const length = raw[escape + 1] === 0x75 ? 6 : 2;
    if (!isEscaped && escape + length > end) end = escape > from ? escape : escape + length;
  }
  while (((raw[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}

/** Puts the strings in their places. */
function withStrings(root: unknown, mark: string, strings: readonly string[]): unknown {
  const markLength = mark.length;
  const longest = markLength + String(strings.length).length;
  const stringOf = (value: string): string | undefined =>
    value.length > markLength && value.length <= longest && value.startsWith(mark)
      ? strings[Number(value.slice(markLength))]
      : undefined;
  if (typeof root === 'string') return stringOf(root) ?? root;
  const open: object[] = typeof root === 'object' && root !== null ? [root] : [];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const members = node as Record<string, unknown>;
    for (const name of Object.keys(members)) {
      const member = members[name];
      if (typeof member === 'object' && member !== null) open.push(member);
      else if (typeof member === 'string') {
        const string = stringOf(member);
        // Each member is the object's own, `__proto__` too.
        if (string !== undefined) members[name] = string;
      }
    }
  }
  return root;
}
