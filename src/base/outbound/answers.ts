import type { Socket } from 'node:net';
import { AnswerHead, UnreadableAnswerError } from './answer-head.ts';

const staleMark = Symbol('stale');

/** A connection that was closed before the request shows it within a round trip. Later, its server may have worked. */
const mostStaleMs = 5_000;

/**
 * Whether this is the error of a connection that had brought an answer, and closed soon after the next request before any
 * byte of its answer: its server had closed it already (RFC 9112, section 9.3.1).
 *
 * @param startedAt when that request was written, by `performance.now()`
 */
export function isStale(error: Error, startedAt: number): boolean {
  return staleMark in error && performance.now() - startedAt < mostStaleMs;
}

/**
 * Reads the head of each answer before undici, and limits the length of answers. The received bytes are counted, because
 * the parser does not limit what surrounds a body: blanks, chunk extensions. One request is in progress at a time.
 *
 * @param socket connected, and nothing was sent yet
 * @param longest answer that is read, in bytes, with all that surrounds its body
 */
export function watchAnswers(socket: Socket, longest = Infinity): void {
  /** The bytes written when the last answer began. Then more of them are the next request. */
  let written = socket.bytesWritten;
  let readBefore = 0;
  let head: AnswerHead | undefined;
  let hasAnswered = false;
  /**
   * Set by an answer that comes before its request is written. The rest of that looks like the next request, so nothing
   * that comes from then on is taken for a head, and the connection is not used again.
   */
  let isLast = false;

  const readHead = (): void => {
    if (isLast || (head === undefined && socket.bytesWritten === written)) return;
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    written = socket.bytesWritten;
    if (head === undefined) {
      head = new AnswerHead();
      readBefore = socket.bytesRead - chunk.length;
    }
    const isEarly = socket.writableNeedDrain;
    const bytes = head.take(chunk, isEarly);
    if (bytes === undefined) return;
    isLast = isEarly;
    head = undefined;
    hasAnswered = true;
    socket.unshift(bytes);
  };

  // Before those of undici, which reads what is left.
  socket.on('readable', () => {
    try {
      readHead();
      if (socket.bytesRead - readBefore > longest) throw new UnreadableAnswerError('ANSWER_TOO_LONG');
    } catch (error) {
      socket.destroy(error as Error);
    }
  });
  socket.on('error', (error) => {
    const isUnanswered = head === undefined && socket.bytesWritten !== written && socket.readableLength === 0;
    if (hasAnswered && !isLast && isUnanswered) Object.defineProperty(error, staleMark, { value: true });
  });
}
