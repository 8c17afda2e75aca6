import { createHash } from 'node:crypto';
import { earliest, latest } from '../runtime/instants.ts';
import type { Position } from './listing.ts';

/** The position of a walk through a list. */
export interface Cursor {
  readonly after: Position;
  /** Number of entries on the pages so far. */
  readonly offset: number;
}

/** Bytes of a digest of the list and the cursor, by which a cursor of another list is recognised. */
const digestBytes = 9;
const form = /^(0|[1-9]\d{0,9}) (0|-?[1-9]\d{0,15}) ([\w:-]{0,64})$/;

/**
 * Writes a cursor as the opaque text of `next` and `after`.
 * @param list identifies the list, including its filters
 */
export function encodeCursor(list: string, { after: { at, id }, offset }: Cursor): string {
  const text = `${offset} ${at} ${id}`;
  return Buffer.concat([digest(list, text), Buffer.from(text, 'latin1')]).toString('base64url');
}

/** Reads a cursor. @returns undefined for a text that was not written for this list */
export function decodeCursor(list: string, cursor: string): Cursor | undefined {
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.toString('latin1', digestBytes);
  const [, offset, at, id] = form.exec(text) ?? [];
  if (offset === undefined || at === undefined || id === undefined) return undefined;
  const decoded = { after: { at: Number(at), id }, offset: Number(offset) };
  const isWithin = decoded.after.at >= earliest.getTime() && decoded.after.at <= latest.getTime();
  // Other encodings of the same bytes are refused too.
  return isWithin && encodeCursor(list, decoded) === cursor ? decoded : undefined;
}

/** Not a secret: a forged cursor shows nothing that an offset does not show. */
function digest(list: string, text: string): Buffer {
  return createHash('sha256').update(`${list}\n${text}`).digest().subarray(0, digestBytes);
}
