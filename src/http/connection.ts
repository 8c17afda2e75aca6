import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request that was parsed while an answer was in progress, or another action to run after that answer. */
interface Waiting {
  readonly response: ServerResponse | undefined;
  readonly begin: () => void;
}

/** The most requests that can wait on one connection. */
const maxWaiting = 100;

/**
 * One connection, whose requests reach the application one at a time.
 *
 * Node emits all requests of a chunk at once. These can be thousands, whose answers fill the memory if the client does
 * not read them (`pipelined-unread` in the hostile tests). Here the next request begins when the operating system has
 * taken the whole answer to the one before, and nothing is read from the socket while requests wait. If too many wait,
 * they are answered, the connection ends, and the client can repeat the others (RFC 9112, section 9.3.2).
 */
export class Connection {
  readonly socket: Socket;
  readonly #onFlood: () => void;
  /** The last answer that has begun. */
  #answer: ServerResponse | undefined;
  readonly #waiting: Waiting[] = [];
  #isWatching = false;
  #isOver = false;
  #progress = { taken: 0, at: performance.now() };

  /** @param onFlood called once if more requests arrive at once than can wait */
  constructor(socket: Socket, onFlood: () => void) {
    this.socket = socket;
    this.#onFlood = onFlood;
    // Node resumes reading after each answer.
    socket.on('resume', () => {
      if (this.#waiting.length > 0) socket.pause();
    });
  }

  /** The answer in progress; undefined if the operating system has taken all of the last one. */
  get answer(): ServerResponse | undefined {
    return this.#answer?.closed === false ? this.#answer : undefined;
  }

  /**
   * Accepts the next request. @returns true if it can begin now; otherwise `begin` is called when all earlier requests
   * are answered
   */
  admit(response: ServerResponse, begin: RequestListener): boolean {
    if (this.#isOver) return false;
    if (this.#waiting.length > 0 || this.answer !== undefined) {
      this.#wait({ response, begin: () => void begin(response.req, response) });
      if (this.#waiting.length >= maxWaiting) {
        response.setHeader('connection', 'close');
        this.#isOver = true;
        this.#onFlood();
      }
      return false;
    }
    this.#answer = response;
    return true;
  }

  /**
   * Sets the last action of this connection, after the answers that have begun. Later input is ignored. Does nothing if
   * it was called before.
   */
  end(begin: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.answer === undefined || isHeldUp(this.answer)) begin();
    else this.#wait({ response: undefined, begin });
  }

  /**
   * Whether the client has taken nothing of an answer for the limit, as far as earlier calls show. Call it regularly.
   * Node shows the progress of whole writes, which are small (`sendBody`).
   *
   * @param limit in milliseconds
   */
  isStalled(now: number, limit: number): boolean {
    const { bytesWritten, writableLength } = this.socket;
    const taken = bytesWritten - writableLength;
    if (writableLength === 0 || taken !== this.#progress.taken) this.#progress = { taken, at: now };
    return now - this.#progress.at >= limit;
  }

  #wait(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.socket.pause();
    this.#watch();
  }

  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#answer?.once('close', () => {
      this.#isWatching = false;
      this.#goOn();
    });
  }

  #goOn(): void {
    // Node ends the socket after the last answer.
    if (!this.socket.writable) {
      this.#waiting.length = 0;
      this.#isOver = true;
    }
    const next = this.#next();
    if (next !== undefined) {
      this.#answer = next.response;
      next.begin();
    }
    if (this.#waiting.length > 0) this.#watch();
    else this.socket.resume();
  }

  #next(): Waiting | undefined {
    let next = this.#waiting.shift();
    // The rest of its body was ignored, so the request cannot be answered.
    while (this.#isOver && next?.response?.req.complete === false) next = this.#waiting.shift();
    return next;
  }
}

/** The answer waits for the rest of its request, which will not come. */
function isHeldUp({ req, headersSent }: ServerResponse<IncomingMessage>): boolean {
  return !req.complete && !headersSent;
}
