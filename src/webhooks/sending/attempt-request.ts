import type { Dispatcher } from 'undici';
import { isStale } from '../../base/outbound/answers.ts';
import { hasCode } from '../../base/runtime/system-error.ts';
import { certificateNamesOf } from '../../base/outbound/tls-failure.ts';
import { keepHeaders } from './response-headers.ts';
import { sendErrorOf, type NotSent, type SendError } from './send-error.ts';

/** The result of an attempt. The status line decides, even if the body is incomplete. */
export interface SendResult {
  readonly status: number | undefined;
  /** Why there was no answer, or only a part of it. Always set if there is no status. */
  readonly error: SendError | NotSent | undefined;
  /** What the certificate of the receiver is for, if it is not for its name. */
  readonly certificateNames: readonly string[];
  /** Headers of the response, by lower-case name; bounded. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the response's body. */
  readonly response: Uint8Array;
  /** Whether the body was longer. */
  readonly responseCut: boolean;
  readonly milliseconds: number;
}

/** The attempt took too long or was canceled. */
export class AttemptEndedError extends Error {
  readonly code: 'ATTEMPT_TIMEOUT' | 'ATTEMPT_ABORTED';

  constructor(code: AttemptEndedError['code']) {
    super('The attempt was ended.');
    this.name = 'AttemptEndedError';
    this.code = code;
  }
}

export interface AttemptLimits {
  /** Time limit of the whole attempt, in milliseconds. */
  readonly totalTimeout: number;
  /** Bytes of the body that are stored. */
  readonly responseKept: number;
  /** Bytes of the body that are read before the connection is closed. */
  readonly responseRead: number;
}

/**
 * One request and its response, which undici passes on in parts. A slow receiver cannot exceed the time limit, and a
 * long answer cannot fill the memory: the body is read up to a limit, so that the connection can be used again. Above
 * the limit the connection is closed.
 */
export class AttemptRequest implements Dispatcher.DispatchHandler {
  readonly result: Promise<SendResult>;
  readonly #limits: AttemptLimits;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #resolve: (result: SendResult) => void = () => undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #ended: AttemptEndedError | undefined;
  #again: (() => void) | undefined;
  /** When the request was written to an open connection. */
  #writtenAt = 0;
  #status: number | undefined;
  #headers: Readonly<Record<string, string>> = {};
  readonly #chunks: Buffer[] = [];
  #kept = 0;
  #read = 0;

  /**
   * @param again sends the request over a new connection; called at most once, if that of the request had been closed,
   *   which says nothing about the receiver
   */
  constructor(limits: AttemptLimits, again: () => void) {
    this.#limits = limits;
    this.#again = again;
    this.result = new Promise((resolve) => (this.#resolve = resolve));
    this.#timer = setTimeout(() => {
      this.end(new AttemptEndedError('ATTEMPT_TIMEOUT'));
    }, limits.totalTimeout);
  }

  /** Cancels the attempt at any stage, also while it waits for a connection. */
  end(reason: AttemptEndedError): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#controller?.abort(reason);
    this.#finish(reason);
  }

  /** The request could not be begun. */
  refused(error: unknown): void {
    this.#finish(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#writtenAt = performance.now();
    if (this.#ended !== undefined) controller.abort(this.#ended);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status;
    this.#headers = keepHeaders(headers);
    this.#controller = controller;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#read += chunk.length;
    const room = this.#limits.responseKept - this.#kept;
    if (room > 0) {
      const part = chunk.length > room ? Buffer.from(chunk.subarray(0, room)) : chunk;
      this.#chunks.push(part);
      this.#kept += part.length;
    }
    if (this.#read > this.#limits.responseRead) {
      this.#finish();
      controller.abort(new AttemptEndedError('ATTEMPT_ABORTED'));
    }
  }

  onResponseEnd(): void {
    this.#finish();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const again = this.#again;
    this.#again = undefined;
    const isOver = this.#status !== undefined || this.#ended !== undefined;
    if (again !== undefined && !isOver && isStale(error, this.#writtenAt)) again();
    else this.#finish(error);
  }

  #finish(failure?: unknown): void {
    clearTimeout(this.#timer);
    const reason = this.#reasonOf(failure);
    // After the status, everything that is too long counts as a body that is too long.
    const isCut = reason === 'head-too-large' && this.#status !== undefined;
    this.#resolve({
      status: this.#status,
      error: isCut ? undefined : reason,
      certificateNames: certificateNamesOf(failure),
      headers: this.#headers,
      response: Buffer.concat(this.#chunks),
      responseCut: isCut || this.#read > this.#kept,
      milliseconds: performance.now() - this.#startedAt,
    });
  }

  #reasonOf(failure: unknown): SendResult['error'] {
    if (failure === undefined) return undefined;
    // In a body, it ended too early.
    const isShort = this.#status !== undefined && hasCode(failure, 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH');
    return isShort ? 'connection-lost' : sendErrorOf(failure);
  }
}
