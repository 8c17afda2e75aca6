import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The end of every head, and of every chunked body. */
const endOfHead = '\r\n\r\n';
/**
 * Bytes that are parsed in one go whatever they hold. A request has 18 at least, so these are 14 requests at most; and
 * a body of nothing but line ends is still parsed in pieces of this size.
 */
const smallestPiece = 256;

/** A request that was parsed while an answer was under way, or something else to be done once that is handed over. */
interface Waiting {
  readonly response: ServerResponse | undefined;
  readonly begin: () => void;
}

/**
 * One connection, whose requests reach the application one at a time.
 *
 * Node parses everything that a chunk holds and hands all of it over at once: thousands of requests, whose answers pile
 * up in memory when the client reads none of them. Here what comes behind a request that is not answered yet stays as
 * it was received, at most a chunk of 64 KiB, and nothing more is read from the socket. The next request begins when
 * the operating system has taken the whole answer to the one before, so a client that reads nothing gets no further.
 */
export class Connection {
  readonly socket: Socket;
  readonly #parse: (chunk: Buffer) => void;
  /** The last answer that was begun. */
  #answer: ServerResponse | undefined;
  readonly #waiting: Waiting[] = [];
  #unparsed: Buffer[] = [];
  #isWatching = false;
  #isOver = false;
  #progress = { completed: 0, queued: 0, at: performance.now() };

  /** To be made when the HTTP server has just taken the socket over. */
  constructor(socket: Socket) {
    const [parse, ...others] = socket.listeners('data');
    if (parse === undefined || others.length > 0) throw new Error("this version of Node's HTTP server is not known");
    this.socket = socket;
    this.#parse = parse.bind(socket) as (chunk: Buffer) => void;
    socket.off('data', parse as (chunk: Buffer) => void);
    socket.on('data', (chunk: Buffer) => {
      this.#receive(chunk);
    });
  }

  /** The answer under way; undefined when the operating system has taken all of the last one. */
  get answer(): ServerResponse | undefined {
    return this.#answer?.closed === false ? this.#answer : undefined;
  }

  /** Begins the work on a request: at once, or when all before it are answered. */
  admit(response: ServerResponse, begin: () => void): void {
    if (this.#waiting.length > 0 || this.answer !== undefined) {
      this.#wait({ response, begin });
    } else {
      this.#answer = response;
      begin();
    }
  }

  /**
   * The last thing to be done here, behind the answers that were begun. Nothing that comes in from now on is looked at.
   * Does nothing when this was said before.
   */
  end(begin: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#unparsed = [];
    if (this.answer === undefined || isHeldUp(this.answer)) begin();
    else this.#wait({ response: undefined, begin });
  }

  /**
   * For how many milliseconds the client has taken nothing of what is written to it, as far as earlier calls can tell;
   * 0 where nothing waits. To be called now and then.
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

  #receive(chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#mustWait()) this.#hold(chunk);
    else this.#parseInPieces(chunk);
  }

  /** True while no further request may be parsed. The body of the one that is being answered may. */
  #mustWait(): boolean {
    return this.#waiting.length > 0 || this.answer?.req.complete === true;
  }

  #parseInPieces(chunk: Buffer): void {
    let rest = chunk;
    for (let end = endOfPiece(rest); end < rest.length; end = endOfPiece(rest)) {
      this.#parse(rest.subarray(0, end));
      rest = rest.subarray(end);
      if (this.#isOver) return;
      if (this.#mustWait()) {
        this.#hold(rest);
        return;
      }
    }
    this.#parse(rest);
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
    // Node ends the socket itself when the answer was the last one.
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
    // The rest of its body was not looked at, so it cannot be answered.
    while (this.#isOver && next?.response?.req.complete === false) next = this.#waiting.shift();
    return next;
  }
}

/**
 * What the operating system has not taken yet of the write under way. A long answer is one write, of which nothing else
 * tells how far it is. Node keeps this number for its own time-outs, which do not fit: they begin anew whenever the client sends something.
 */
function queuedBytes(socket: Socket): number {
  return (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;
}

/** The answer waits for the rest of its request, and so will not come. */
function isHeldUp({ req, headersSent }: ServerResponse<IncomingMessage>): boolean {
  return !req.complete && !headersSent;
}

/** Where to stop parsing, so that a piece holds one request, or a few very small ones. */
function endOfPiece(chunk: Buffer): number {
  if (chunk.length <= smallestPiece) return chunk.length;
  const end = chunk.indexOf(endOfHead, smallestPiece);
  return end === -1 || chunk.indexOf(endOfHead, end + endOfHead.length) === -1 ? chunk.length : end + endOfHead.length;
}
