import type { Dispatcher } from 'undici';
import type { WholeResponse } from './whole-response.ts';
import { ProviderHttpError, toHeaderMap } from './whole-response.ts';

/**
 * The longest event of an event stream, in bytes: an event carries as much as a whole answer at most. The packages keep
 * an event until its end.
 */
const maxEventBytes = 4 * 1024 * 1024;
/** The longest body that is no event stream, in bytes. Amazon's frames carry a word or two in 200 bytes. */
export const maxOtherBytes = 64 * 1024 * 1024;

/** From this many bytes that nobody has read yet, the connection is not read until there are fewer. */
const mostUnreadBytes = 4_096;

/** The largest piece that is passed on. The packages' pipelines hold a few pieces. */
const pieceBytes = 4_096;

/**
 * One request and its response, whose body is passed on while it arrives. An error response is read as a whole, like
 * every response to `fetch`.
 */
export class StreamedResponse implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (response: Response) => void;
  readonly #whole: WholeResponse;
  readonly #mostBytes: number;
  #body: BodyStream | undefined;
  #controller: Dispatcher.DispatchController | undefined;

  /** @param mostBytes of a body that is no event stream */
  constructor(
    signal: AbortSignal | undefined,
    resolve: (response: Response) => void,
    whole: WholeResponse,
    mostBytes = maxOtherBytes,
  ) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#whole = whole;
    this.#mostBytes = mostBytes;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#whole.onRequestStart(controller);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    statusText = '',
  ): void {
    if (status < 200 || status >= 300) {
      this.#whole.onResponseStart(controller, status, headers, statusText);
      return;
    }
    this.#whole.settle(() => {
      const map = toHeaderMap(headers);
      const isEventStream = /^text\/event-stream\b/i.test(map.get('content-type') ?? '');
      const body = new BodyStream(controller, status, isEventStream ? undefined : this.#mostBytes);
      this.#body = body;
      this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
      const response = { status, statusText, ok: true, headers: map, body: body.stream };
      this.#resolve(response as unknown as Response);
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#body) this.#body.push(chunk);
    else this.#whole.onResponseData(controller, chunk);
  }

  onResponseEnd(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    if (this.#body) this.#body.end();
    else this.#whole.onResponseEnd();
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    if (this.#body) this.#body.break(error);
    else this.#whole.onResponseError(controller, error);
  }

  readonly #onAbort = (): void => {
    this.#body?.cancel(this.#signal?.reason);
    this.#controller?.abort(new Error('The request was canceled.'));
  };
}

/** A response body in small pieces, read from the connection no faster than from this. */
class BodyStream {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #connection: Dispatcher.DispatchController;
  readonly #status: number;
  /** Undefined for an event stream. */
  readonly #mostBytes: number | undefined;
  readonly #unread: Buffer[] = [];
  #unreadBytes = 0;
  #reader: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Whether a read waits. */
  #isWanted = false;
  /** How the body ends after what is unread; an error if it broke off. */
  #end: { readonly error?: Error } | undefined;
  #isClosed = false;
  /** Of an event stream, the bytes since the last end of an event; else all. */
  #bytes = 0;
  #endedWithNewline = false;

  constructor(connection: Dispatcher.DispatchController, status: number, mostBytes: number | undefined) {
    this.#connection = connection;
    this.#status = status;
    this.#mostBytes = mostBytes;
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#reader = controller;
        },
        pull: () => {
          this.#isWanted = true;
          this.#pass();
        },
        cancel: () => {
          this.#isClosed = true;
          this.#connection.abort(new Error('The rest of the response is not needed.'));
        },
      },
      { highWaterMark: 0 },
    );
  }

  push(chunk: Buffer): void {
    if (this.#isClosed || this.#end) return;
    if (this.#isTooLarge(chunk)) {
      this.cancel(new ProviderHttpError('too-large', this.#status));
      this.#connection.abort(new Error('The response is too large.'));
      return;
    }
    this.#unread.push(chunk);
    this.#unreadBytes += chunk.length;
    this.#pass();
    if (this.#unreadBytes >= mostUnreadBytes) this.#connection.pause();
  }

  end(): void {
    this.#end ??= {};
    this.#pass();
  }

  /** Ends the body with an error, after what has arrived. */
  break(error: Error): void {
    this.#end ??= { error: new ProviderHttpError('cut', this.#status, error) };
    this.#pass();
  }

  /** Ends the body with an error at once. */
  cancel(reason: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unread.length = 0;
    this.#reader?.error(reason);
  }

  #pass(): void {
    if (this.#isClosed) return;
    if (this.#isWanted && this.#unreadBytes > 0) {
      this.#isWanted = false;
      this.#reader?.enqueue(this.#take());
      if (this.#connection.paused && this.#unreadBytes < mostUnreadBytes) this.#connection.resume();
    }
    if (this.#end === undefined || this.#unreadBytes > 0) return;
    this.#isClosed = true;
    if (this.#end.error) this.#reader?.error(this.#end.error);
    else this.#reader?.close();
  }

  /** The next piece. */
  #take(): Buffer {
    const pieces: Buffer[] = [];
    let size = 0;
    while (size < pieceBytes) {
      const [first] = this.#unread;
      if (first === undefined) break;
      const room = pieceBytes - size;
      pieces.push(first.subarray(0, room));
      size += Math.min(first.length, room);
      if (first.length > room) this.#unread[0] = first.subarray(room);
      else this.#unread.shift();
    }
    this.#unreadBytes -= size;
    const [only] = pieces;
    return pieces.length === 1 && only ? only : Buffer.concat(pieces, size);
  }

  #isTooLarge(chunk: Buffer): boolean {
    if (this.#mostBytes !== undefined) {
      this.#bytes += chunk.length;
      return this.#bytes > this.#mostBytes;
    }
    // An empty line ends an event. It can be divided between two chunks.
    const [firstByte] = chunk;
    const ends = ['\n\n', '\r\n\r\n', '\r\r'].map((emptyLine) => chunk.lastIndexOf(emptyLine));
    const last = Math.max(...ends, this.#endedWithNewline && isNewline(firstByte) ? 0 : -1);
    this.#bytes = last === -1 ? this.#bytes + chunk.length : chunk.length - last;
    this.#endedWithNewline = isNewline(chunk.at(-1));
    return this.#bytes > maxEventBytes;
  }
}

function isNewline(byte: number | undefined): boolean {
  return byte === 0x0a || byte === 0x0d;
}
