/** A place between two events of the feed. */
export interface FeedPosition {
  /** Number of a block. */
  readonly block: number;
  /** How many of its events are before this place. */
  readonly index: number;
  /** Id of the last one of these; empty if there is none. */
  readonly id: string;
}

const form = /^([1-9]\d{0,14})\.(0|[1-9]\d{0,3})\.([0-9a-f-]{36})?$/;

/** Writes a position as the text of `next` and `after`. */
export function writeCursor({ block, index, id }: FeedPosition): string {
  return Buffer.from(`${block}.${index}.${id}`, 'latin1').toString('base64url');
}

/** Reads a cursor. @returns undefined for a text that is none */
export function readCursor(cursor: string): FeedPosition | undefined {
  const [, block, index, id = ''] = form.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (block === undefined || index === undefined || (index === '0') !== (id === '')) return undefined;
  const position = { block: Number(block), index: Number(index), id };
  // Other encodings of the same bytes are refused too.
  return writeCursor(position) === cursor ? position : undefined;
}
