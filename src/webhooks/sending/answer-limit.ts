import type { Socket } from 'node:net';

/** The answer to a request is longer than the limit. */
export class AnswerTooLongError extends Error {
  readonly code = 'ANSWER_TOO_LONG';

  constructor() {
    super('The answer is too long.');
    this.name = 'AnswerTooLongError';
  }
}

/**
 * Closes a connection when the answer to one request is too long. The received bytes are counted, because the HTTP
 * parser does not limit what surrounds a body: status lines, blanks, informational answers, chunk extensions. One
 * request is in progress at a time.
 *
 * @param socket connected, and nothing was sent yet
 * @param longest limit in bytes of head and body together
 */
export function limitAnswers(socket: Socket, longest: number): void {
  let written = socket.bytesWritten;
  let readBefore = socket.bytesRead;
  let read = readBefore;
  socket.on('readable', () => {
    if (socket.bytesWritten !== written) {
      // The next request has been sent.
      written = socket.bytesWritten;
      readBefore = read;
    }
    read = socket.bytesRead;
    if (read - readBefore > longest) socket.destroy(new AnswerTooLongError());
  });
}
