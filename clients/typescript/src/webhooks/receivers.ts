import type { DeliveryHeaders } from './delivery-headers.ts';
import type { WebhookEvent } from './events.ts';
import { join, readSecrets } from './signatures.ts';
import { unwrap, type UnwrapOptions } from './unwrap.ts';
import { WebhookVerificationError } from './verification-error.ts';

export interface ReceiverOptions extends UnwrapOptions {
  /** The secret of the integration; several during a rotation. */
  readonly secrets: string | readonly string[];
  /** Longer bodies are refused with 413 before they are verified. 8 MiB by default. */
  readonly maxBodyBytes?: number | undefined;
  /**
   * Gets each failure: a {@link WebhookVerificationError} for a refused delivery, otherwise the error that the handler
   * threw. By default, failures other than refusals are printed with `console.error`.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * Handles one verified event, within 15 seconds. An event can arrive more than once, each time with the same
 * `event.id`: the handler must recognise events that it has processed. If it throws, the answer is 500, and the service
 * sends the event again later.
 */
export type EventHandler = (event: WebhookEvent) => unknown;

const defaultMaxBodyBytes = 8 * 1024 * 1024;

interface Answer {
  readonly status: number;
  readonly text?: string;
  readonly headers?: Record<string, string>;
}

interface Incoming {
  readonly method: string | undefined;
  readonly headers: DeliveryHeaders;
  /** @returns undefined if the body is longer than the limit */
  readonly read: (limit: number) => Promise<Uint8Array | string | undefined>;
}

/**
 * Verifies a request and calls the handler. The answer is 204 after the handler has ended, 4xx if the request was refused,
 * 500 if the handler threw. It never rejects.
 */
function createReceiver(options: ReceiverOptions, handler: EventHandler): (incoming: Incoming) => Promise<Answer> {
  const { secrets, maxBodyBytes = defaultMaxBodyBytes, onError = printUnexpected } = options;
  readSecrets(secrets);
  return async ({ method, headers, read }) => {
    if (method !== 'POST') return { status: 405, text: 'Send events with POST.', headers: { allow: 'POST' } };
    try {
      const body = await read(maxBodyBytes);
      if (body === undefined || body.length > maxBodyBytes) return { status: 413, text: 'The body is too large.' };
      await handler(await unwrap(body, headers, secrets, options));
      return { status: 204 };
    } catch (error) {
      onError(error);
      const isRefusal = error instanceof WebhookVerificationError;
      return isRefusal ? { status: 400, text: error.message } : { status: 500, text: 'The receiver failed.' };
    }
  };
}

function printUnexpected(error: unknown): void {
  // oxlint-disable-next-line no-console -- what a handler throws must be seen somewhere
  if (!(error instanceof WebhookVerificationError)) console.error(error);
}

/**
 * A receiver for everything that handles a `Request` with a `Response`: Deno, Bun, workers, Hono, Next.js.
 * @throws TypeError if there is no usable secret
 */
export function fetchReceiver(
  options: ReceiverOptions,
  handler: EventHandler,
): (request: Request) => Promise<Response> {
  const receive = createReceiver(options, handler);
  return async (request) => {
    const { method, headers } = request;
    const answer = await receive({ method, headers, read: (limit) => readStream(request, limit) });
    return new Response(answer.text ?? null, { status: answer.status, headers: answer.headers ?? {} });
  };
}

async function readStream({ body }: Request, limit: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = body?.getReader();
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done || value === undefined) return join(chunks);
    length += value.length;
    if (length > limit) {
      await reader?.cancel();
      return undefined;
    }
    chunks.push(value);
  }
}

/** The parts of `http.IncomingMessage`, and of an Express request, that the receiver uses. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly readableEnded: boolean;
  readonly destroyed: boolean;
  /** Set by `express.raw()` and `express.text()`. */
  readonly body?: unknown;
  /** Set by some hosts, besides a parsed body. */
  readonly rawBody?: unknown;
  on(event: string, listener: (chunk: Uint8Array) => void): unknown;
  off(event: string, listener: (chunk: Uint8Array) => void): unknown;
  resume(): unknown;
}

/** The parts of `http.ServerResponse`, and of an Express response, that the receiver uses. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(text?: string): unknown;
}

/**
 * A receiver for `node:http` and for Express. In Express, mount it before `express.json()`, because it needs the
 * received bytes. A body that `express.raw()` or `express.text()` has read is accepted.
 *
 * @throws TypeError if there is no usable secret
 */
export function nodeReceiver(
  options: ReceiverOptions,
  handler: EventHandler,
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  const receive = createReceiver(options, handler);
  return async (request, response) => {
    const { method, headers } = request;
    const answer = await receive({ method, headers, read: (limit) => readNode(request, limit) });
    // The rest of a body that is too large is not read.
    const close = answer.status === 413 ? { connection: 'close' } : {};
    response.writeHead(answer.status, { ...answer.headers, ...close });
    response.end(answer.text);
  };
}

async function readNode(request: NodeRequest, limit: number): Promise<Uint8Array | string | undefined> {
  for (const read of [request.rawBody, request.body]) {
    if (typeof read === 'string' || read instanceof Uint8Array) return read;
  }
  if (request.readableEnded) {
    throw new TypeError('The body was parsed before the receiver got it. Mount the receiver before express.json().');
  }
  if (Number(request.headers['content-length'] ?? 0) > limit) return undefined;
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const collect = (chunk: Uint8Array): void => {
      chunks.push(chunk);
      length += chunk.length;
      if (length <= limit) return;
      request.off('data', collect);
      request.resume();
      resolve(undefined);
    };
    const fail = (): void => {
      reject(new Error('The connection was closed before the body was complete.'));
    };
    if (request.destroyed) fail();
    request.on('data', collect);
    request.on('end', () => {
      resolve(join(chunks));
    });
    request.on('error', fail);
    request.on('close', fail);
  });
}
