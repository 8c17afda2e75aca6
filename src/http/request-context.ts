import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
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
  readonly resourceId?: string;
}

/** Builds the context of one request. Signal, child logger and id are made only when a handler asks for them. */
export function createRequestContext(options: RequestContextOptions): RequestContext {
  const { request, response, requestId, principal } = options;
  const traceparent = request.headers['traceparent'];
  let signal: AbortSignal | undefined;
  let log: Logger | undefined;
  let resourceId = options.resourceId;
  return {
    requestId,
    principal,
    traceparent: typeof traceparent === 'string' && traceparentForm.test(traceparent) ? traceparent : undefined,
    get signal() {
      return (signal ??= options.cancelOnHangUp ? hangUpSignal(response) : new AbortController().signal);
    },
    get log() {
      return (log ??= options.log.child({ request_id: requestId, key_id: principal.keyId }));
    },
    get resourceId() {
      return (resourceId ??= randomUUID());
    },
  };
}

function hangUpSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => {
    if (!response.writableEnded) controller.abort(new Error('The caller hung up.'));
  };
  if (response.destroyed) abort();
  else response.once('close', abort);
  return controller.signal;
}
