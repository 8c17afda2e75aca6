import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A body that is sent piece by piece, as fast as the caller takes it. */
export interface AnswerStream<MediaType extends string = string> {
  readonly mediaType: MediaType;
  /** In bytes, if it is known beforehand. Any other length of `content` is a failure. */
  readonly length?: number | undefined;
  /** Of bytes, or of strings. It is destroyed when the answer has ended, sent or not. */
  readonly content: Readable;
  /** The most memory that it takes, however long it is, in bytes: what it reads ahead, and what waits to be sent. */
  readonly memory?: number;
}

export const eventStreamType = 'text/event-stream';

/** An answer with status 200 that is written while its events arrive. */
export interface EventStream {
  readonly mediaType: typeof eventStreamType;
  /** Writes the events after the head of the answer. Never rejects. */
  sendTo(response: ServerResponse): Promise<StreamEnd>;
  /** Call this instead of `sendTo` if the answer is not sent. */
  discard(): void;
  /**
   * The text of the whole stream, even if the caller leaves; only for an answer that is kept. It also resolves for a
   * stream that failed after its first event, because that was paid for. Rejects if there was no event.
   */
  readonly whole: Promise<string> | undefined;
  /** Call this when `whole` is stored, or was not stored. The stream does not end before. */
  stored(): void;
}

export interface StreamedAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: '';
  readonly bytes?: undefined;
  readonly stream: AnswerStream | EventStream;
}

export interface StreamEnd {
  /** Bytes of the body that were sent. */
  readonly bytes: number;
  /**
   * `failed`: the content failed, or had another length than announced, so the connection was reset. `error`: the work
   * failed, and the last event of a stream of events says so. `closed`: the connection was closed before the end, by the
   * caller, because the caller took nothing for too long, or because the process stops.
   */
  readonly outcome: 'succeeded' | 'failed' | 'error' | 'closed';
  /** Why it failed. */
  readonly error?: unknown;
  /** Milliseconds until the first event of a stream of events; undefined if there was none. */
  readonly firstMs?: number | undefined;
}

/** What a stream takes of the memory for requests if it does not say so: what files and buckets read ahead. */
export const bytesInFlight = 512 * 1024;
/**
 * The most bytes that are written to a connection at once. Node shows only the progress of whole writes, and a client
 * that takes nothing is found by this.
 */
const pieceBytes = 64 * 1024;

/** Sends the body of an answer after its head was written. Never rejects. */
export function sendStream(response: ServerResponse, stream: AnswerStream | EventStream): Promise<StreamEnd> {
  return 'sendTo' in stream ? stream.sendTo(response) : sendBytes(response, stream);
}

/** Sends a whole body, after its head was written, and ends the answer. */
export function sendBody(response: ServerResponse, body: string | Uint8Array): void {
  if (body.length <= pieceBytes / 4) {
    response.end(body);
    return;
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (bytes.length <= pieceBytes) {
    response.end(bytes);
    return;
  }
  const pieces = piecesOf(bytes);
  const sendOn = (): void => {
    for (let next = pieces.next(); next.done !== true; next = pieces.next()) {
      if (response.write(next.value)) continue;
      response.once('drain', sendOn);
      return;
    }
    response.end();
  };
  sendOn();
}

/** Parts of bytes that are small enough to be written at once. They are not copied. */
function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += pieceBytes) yield bytes.subarray(start, start + pieceBytes);
}

/** Call this instead of `sendStream` if the answer is not sent. */
export function discardStream(stream: AnswerStream | EventStream): void {
  if ('sendTo' in stream) stream.discard();
  else stream.content.destroy();
}

/**
 * Sends a body after its head was written; nothing to HEAD. A body that fails is cut so that the caller cannot take it
 * for a whole one: the connection is reset, and the last bytes of an announced length are sent only when the source has ended well.
 * Never rejects.
 */
async function sendBytes(response: ServerResponse, { content, length }: AnswerStream): Promise<StreamEnd> {
  if (response.req.method === 'HEAD') {
    content.destroy();
    response.end();
    return { bytes: 0, outcome: 'succeeded' };
  }
  let bytes = 0;
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown): void => {
    // When the connection is closed the content fails, too.
    if (response.destroyed) return;
    failure ??= { error };
    // Without a length, an older client takes the usual end of a connection for the end of the body.
    response.socket?.resetAndDestroy();
  };
  content.once('error', fail);
  const checked = async function* (chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
    let received = 0;
    let last: Uint8Array | undefined;
    for await (const chunk of chunks) {
      for (const piece of piecesOf(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)) {
        received += piece.length;
        if (received > (length ?? Infinity)) break;
        if (received === length) {
          last = piece;
        } else {
          yield piece;
          bytes += piece.length;
        }
      }
      if (received > (length ?? Infinity)) break;
    }
    if (received !== (length ?? received)) {
      const error = new Error(`the body has another length than its ${length} bytes`);
      fail(error);
      throw error;
    }
    if (last === undefined) return;
    yield last;
    bytes = received;
  };
  try {
    await pipeline(content, checked, response);
    return { bytes, outcome: 'succeeded' };
  } catch {
    return failure === undefined ? { bytes, outcome: 'closed' } : { bytes, outcome: 'failed', ...failure };
  }
}
