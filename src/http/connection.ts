import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The end of every head and of every chunked body. */
const endOfHead = '\r\n\r\n';
/**
 * Number of bytes that are always parsed together. A request has at least 18, so these are at most 14 requests; a body
 * of line ends only is also parsed in pieces of this size.
 */
const smallestPiece = 256;

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
 * Node parses a whole chunk and emits all its requests at once. These can be thousands, whose answers fill the memory
 * if the client does not read them. Here the next request begins when the operating system has taken the whole answer
 * to the one before, so a client that reads nothing gets no further answers. When a request arrives before the answer
 * to the previous one, the connection is parsed piece by piece from then on: the input after an unanswered request is
 * not parsed yet, and nothing more is read from the socket. Node parses other connections itself, which is faster. So
 * only the first chunk can contain many requests at once. Then some of them are answered, the connection ends, and the
 * client can repeat the others (RFC 9112, section 9.3.2).
 */
export class Connection {
  readonly socket: Socket;
  readonly #onFlood: () => void;
  /** Undefined while Node parses. */
  #parse: ((chunk: Buffer) => void) | undefined;
  /** The last answer that has begun. */
  #answer: ServerResponse | undefined;
  readonly #waiting: Waiting[] = [];
  #unparsed: Buffer[] = [];
  #isWatching = false;
  #isOver = false;
  #progress = { completed: 0, queued: 0, at: performance.now() };

  /** @param onFlood called once if more requests arrive at once than can wait */
  constructor(socket: Socket, onFlood: () => void) {
    this.socket = socket;
    this.#onFlood = onFlood;
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
      if (this.#parse === undefined) this.#takeOver();
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
    this.#unparsed = [];
    if (this.answer === undefined || isHeldUp(this.answer)) begin();
    else this.#wait({ response: undefined, begin });
  }

  /**
   * For how many milliseconds the client has received nothing although data is waiting, as far as earlier calls show; 0
   * if nothing waits. Call it regularly.
   */
  stalledFor(now: number): number {
    const { bytesWritten, writableLength } = this.socket;
    const completed = bytesWritten - writableLength;
    const queued = queuedBytes(this.socket);
    const progress = this.#progress;
    if (writableLength === 0 || completed > progress.completed || queued !== progress.queued) {
      this.#progress = { completed, queued, at: now };
    }
    return now - this.#progress.at;
  }

  /** Sends all later input through `#receive`. */
  #takeOver(): void {
    const [parse, ...others] = this.socket.listeners('data');
    if (parse === undefined || others.length > 0) throw new Error("this version of Node's HTTP server is not known");
    this.#parse = parse.bind(this.socket) as (chunk: Buffer) => void;
    // Not during the chunk that Node is parsing.
    process.nextTick(() => {
      this.socket.off('data', parse as (chunk: Buffer) => void);
      if (this.socket.destroyed) return;
      // Node removes the listeners that pause and resume reading, but it has paused or is about to.
      const paused = this.socket.listeners('pause') as (() => void)[];
      const resumed = this.socket.listeners('resume') as (() => void)[];
      this.socket.on('data', (chunk: Buffer) => {
        this.#receive(chunk);
      });
      for (const listener of paused) this.socket.off('pause', listener).on('pause', listener);
      for (const listener of resumed) this.socket.off('resume', listener).on('resume', listener);
    });
  }

  #receive(chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#mustWait()) this.#hold(chunk);
    else this.#parseInPieces(chunk);
  }

  /** True while no further request may be parsed. The body of the current request may be parsed. */
  #mustWait(): boolean {
    return this.#waiting.length > 0 || this.answer?.req.complete === true;
  }

  #parseInPieces(chunk: Buffer): void {
    let rest = chunk;
    for (let end = endOfPiece(rest); end < rest.length; end = endOfPiece(rest)) {
      this.#parse?.(rest.subarray(0, end));
      rest = rest.subarray(end);
      if (this.#isOver) return;
      if (this.#mustWait()) {
        this.#hold(rest);
        return;
      }
    }
    this.#parse?.(rest);
  }

  #hold(chunk: Buffer): void {
    this.#unparsed.push(chunk);
    this.socket.pause();
    this.#watch();
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
      this.#unparsed = [];
      this.#isOver = true;
      this.socket.resume();
      return;
    }
    const next = this.#next();
    if (next !== undefined) {
      this.#answer = next.response;
      next.begin();
    }
    if (this.#waiting.length > 0) {
      this.#watch();
      return;
    }
    const chunks = this.#unparsed;
    this.#unparsed = [];
    for (const chunk of chunks) this.#receive(chunk);
    if (this.#unparsed.length === 0 && this.#waiting.length === 0) this.socket.resume();
  }

  #next(): Waiting | undefined {
    let next = this.#waiting.shift();
    // The rest of its body was ignored, so the request cannot be answered.
    while (this.#isOver && next?.response?.req.complete === false) next = this.#waiting.shift();
    return next;
  }
}

/**
 * Bytes of the write in progress that the operating system has not taken yet. A long answer is one write, and nothing
 * else shows its progress. Node has this number for its own time-outs, which are not suitable: they start again
 * whenever the client sends something.
 */
function queuedBytes(socket: Socket): number {
  return (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;
}

/** The answer waits for the rest of its request, which will not come. */
function isHeldUp({ req, headersSent }: ServerResponse<IncomingMessage>): boolean {
  return !req.complete && !headersSent;
}

/** Where to stop parsing, so that a piece contains one request, or a few very small ones. */
function endOfPiece(chunk: Buffer): number {
  if (chunk.length <= smallestPiece) return chunk.length;
  const end = chunk.indexOf(endOfHead, smallestPiece);
  return end === -1 || chunk.indexOf(endOfHead, end + endOfHead.length) === -1 ? chunk.length : end + endOfHead.length;
}
