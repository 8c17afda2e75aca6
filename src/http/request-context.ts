import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { CallerGoneError } from './caller-gone.ts';
import type { Principal, RequestContext } from './operation.ts';

const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;
const traceparentForm = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The caller's `X-Request-Id` where it is well-formed, else a fresh UUID. */
export function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers['x-request-id'];
  return typeof sent === 'string' && requestIdForm.test(sent) ? sent : randomUUID();
}

export interface RequestContextOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly principal: Principal;
  readonly log: Logger;
  /** False when the answer is kept under an idempotency key and so is wanted even after the caller left. */
  readonly cancelOnHangUp: boolean;
  readonly resourceId: string | undefined;
}

/** Builds the context of one request. Signal, child logger and id are made only when a handler asks for them. */
export function createRequestContext(options: RequestContextOptions): RequestContext {
  return new LazyRequestContext(options);
}

/** A class, because an object literal with accessors is several times slower to make, and one is made per request. */
class LazyRequestContext implements RequestContext {
  readonly #options: RequestContextOptions;
  #signal: AbortSignal | undefined;
  #log: Logger | undefined;
  #resourceId: string | undefined;

  constructor(options: RequestContextOptions) {
    this.#options = options;
    this.#resourceId = options.resourceId;
  }

  get requestId(): string {
    return this.#options.requestId;
  }

  get principal(): Principal {
    return this.#options.principal;
  }

  get traceparent(): string | undefined {
    const field = this.#options.request.headers['traceparent'];
    return typeof field === 'string' && traceparentForm.test(field) ? field : undefined;
  }

  get signal(): AbortSignal {
    const { cancelOnHangUp, response } = this.#options;
    return (this.#signal ??= cancelOnHangUp ? hangUpSignal(response) : new AbortController().signal);
  }

  get log(): Logger {
    const { log, requestId, principal } = this.#options;
    return (this.#log ??= log.child({ request_id: requestId, key_id: principal.keyId }));
  }

  get resourceId(): string {
    return (this.#resourceId ??= randomUUID());
  }
}

function hangUpSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => {
    if (!response.writableEnded) controller.abort(new CallerGoneError());
  };
  if (response.destroyed) abort();
  else response.once('close', abort);
  return controller.signal;
}
