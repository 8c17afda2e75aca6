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
}

/** An answer whose body is a stream. */
export interface StreamedAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: '';
  readonly bytes?: undefined;
  readonly stream: AnswerStream;
}

/** How a streamed answer ended. */
export interface StreamEnd {
  /** Bytes of the body that were sent. */
  readonly bytes: number;
  /**
   * `failed`: the content failed, or had another length than announced. `closed`: the connection was closed before the
   * end, by the caller, because the caller took nothing for too long, or because the process stops.
   */
  readonly outcome: 'complete' | 'failed' | 'closed';
  /** Why it failed. */
  readonly error?: unknown;
}

/**
 * What one stream takes of the memory for requests, however long it is: what the source reads ahead, and what waits in
 * the buffers of the connection.
 */
export const bytesInFlight = 512 * 1024;

/**
 * Sends a body after its head was written; nothing to HEAD. A body that fails is cut so that the caller cannot take it
 * for a whole one: the connection is reset, and the last bytes of an announced length are sent only when the source has ended well.
 * Never rejects.
 */
export async function sendStream(response: ServerResponse, { content, length }: AnswerStream): Promise<StreamEnd> {
  if (response.req.method === 'HEAD') {
    content.destroy();
    response.end();
    return { bytes: 0, outcome: 'complete' };
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
  const checked = async function* (chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<string | Uint8Array> {
    let received = 0;
    let last: string | Uint8Array | undefined;
    for await (const chunk of chunks) {
      const size = Buffer.byteLength(chunk);
      if (size === 0) continue;
      received += size;
      if (received > (length ?? Infinity)) break;
      if (received === length) {
        last = chunk;
      } else {
        yield chunk;
        bytes += size;
      }
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
    return { bytes, outcome: 'complete' };
  } catch {
    return failure === undefined ? { bytes, outcome: 'closed' } : { bytes, outcome: 'failed', ...failure };
  }
}
