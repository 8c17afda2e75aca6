import { Readable } from 'node:stream';
import type { RequestContext } from './operation.ts';
import { createReadingTurns } from './reading-turns.ts';

interface AnswerInParts<MediaType extends string> {
  readonly status: 200;
  readonly stream: {
    readonly mediaType: MediaType;
    readonly length?: number;
    readonly content: Readable;
    readonly memory: number;
  };
}

/**
 * What such an answer takes of the memory for requests at most: the part of it that is being sent, the next one, and the
 * current version of a prompt whose earlier versions come first. Each has a megabyte at most.
 */
export const bytesInParts = 3 * 1024 * 1024;

/** Counts ids that an answer keeps until its end, beside its parts. */
export type CountIds = (count: number) => void;

/** An id in a list of ids, in bytes. */
const bytesOfId = 64;

/**
 * Creates the answers of an operation that can be of any length: an export, or a whole list. They read one after the
 * other, only while their callers take what they have read. The parts come as bytes. A whole list also keeps
 * its ids until the end. Their memory is awaited after the first part was read, before the answer begins.
 */
export function createAnswersInParts<MediaType extends string>(
  mediaType: MediaType,
): (
  content: (countIds: CountIds) => AsyncIterable<Uint8Array>,
  context: RequestContext,
) => Promise<AnswerInParts<MediaType>> {
  const turns = createReadingTurns(1);
  return async (content, context) => {
    const { principal } = context;
    const signal = context.endWithSession();
    let kept = 0;
    const countIds: CountIds = (count) => {
      kept += count * bytesOfId;
    };
    const parts = content(countIds)[Symbol.asyncIterator]();
    const read = (): Promise<IteratorResult<Uint8Array>> => turns.read(principal.family, () => parts.next(), signal);
    // Read before the answer begins, so that an unavailable database is a problem and not a cut connection.
    const first = await read();
    try {
      // Not while others wait for their turn: they give memory back after theirs.
      if (kept > 0) await context.memory.cover(bytesInParts + kept, context.signal);
    } catch (error) {
      await parts.return?.();
      throw error;
    }
    let next = first.done === true ? first : await read();
    const whole = async function* (): AsyncGenerator<Uint8Array> {
      if (first.done !== true) yield first.value;
      for (; next.done !== true; next = await read()) yield next.value;
    };
    // A short one is there as a whole. With a length of 0, openapi-fetch and clients made with it read no body at all.
    const isWhole = next.done === true && first.done !== true && first.value.length > 0;
    const length = isWhole ? { length: first.value.length } : {};
    return {
      status: 200,
      stream: {
        mediaType,
        ...length,
        content: Readable.from(whole(), { objectMode: false }),
        memory: bytesInParts + kept,
      },
    };
  };
}
