/** Bodies of requests that are answered before they were read, such as those of refused requests. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** How many bytes are read and discarded before the answer. */
const lingerBytes = 32 * 1024 * 1024;
const lingerMs = 2_000;

/** True if the request announces a body that is not empty. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/**
 * Lets every answer that begins before the whole body was read announce the end of its connection and close it: the
 * service would take the next request for the rest of the body. Call it before anything is read.
 */
export function closeUnlessRead(request: IncomingMessage, response: ServerResponse): void {
  if (!hasBody(request)) return;
  const { shouldKeepAlive } = response;
  response.shouldKeepAlive = false;
  request.once('end', () => {
    response.shouldKeepAlive = shouldKeepAlive;
  });
}

/**
 * Reads and discards what is left of a body, within bounds, so that the caller receives the answer and not a reset, and
 * the connection can be used again. Call it before every answer. Never rejects.
 */
export async function readRest(request: IncomingMessage): Promise<void> {
  if (!hasBody(request) || request.readableEnded || request.destroyed) return;
  // The caller waits for `100 Continue`, which is sent when reading begins.
  if (request.headers.expect !== undefined && request.readableFlowing === null && !request.complete) return;
  await new Promise<void>((resolve) => {
    let length = 0;
    const done = (): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', done).off('close', done);
      // What comes after the bounds stays unread.
      request.pause();
      resolve();
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > lingerBytes) done();
    };
    const timer = setTimeout(done, lingerMs);
    request.on('data', onData).on('end', done).on('close', done);
    request.resume();
  });
}
