import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { ProblemError } from '../errors/problem-error.ts';
import { problemAnswer } from './problem-response.ts';
import { requestIdOf } from './request-context.ts';
import { randomUUID } from 'node:crypto';

/** How long a request may take to arrive, in milliseconds. */
export interface ArrivalLimits {
  /** For the head. */
  readonly head: number;
  /** For head and body together. */
  readonly request: number;
  /** Between two looks for requests that are late: the answer may come by so much later. */
  readonly check: number;
}

const defaultArrivalLimits: ArrivalLimits = { head: 20_000, request: 60_000, check: 5_000 };

/**
 * An HTTP server whose own refusals (unparseable requests, slow requests, oversized header fields, `Expect`, `CONNECT`)
 * are problem documents as well, and which lets the application refuse a request before its body is sent.
 */
export function createHttpServer(application: RequestListener, arrival = defaultArrivalLimits): Server {
  const guarded: RequestListener = (request, response) => {
    // Node would refuse a request without Host by itself, but not with a problem document.
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      refuse(request, response, new ProblemError('bad-request', { detail: 'An HTTP/1.1 request needs a Host field.' }));
    } else application(request, response);
  };
  const server = createServer(
    {
      headersTimeout: arrival.head,
      requestTimeout: arrival.request,
      connectionsCheckingInterval: arrival.check,
      keepAliveTimeout: 65_000,
      maxHeaderSize: 32 * 1024,
      requireHostHeader: false,
    },
    guarded,
  );
  // `100 Continue` is sent when the body is about to be read, after authentication and the size check.
  server.on('checkContinue', guarded);
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    refuse(request, response, new ProblemError('expectation-failed', { detail: 'Only 100-continue can be expected.' }));
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    const error = new ProblemError('method-not-allowed', { detail: 'This is not a proxy.' });
    answerRaw(socket, error, requestIdOf(request));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else answerRaw(socket, unparseable(error.code), randomUUID());
  });
  return server;
}

function unparseable(code: string | undefined): ProblemError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ProblemError('header-fields-too-large', { detail: 'The header section is larger than 32 KiB.' });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ProblemError('request-timeout', { detail: 'The request did not arrive in time.' });
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new ProblemError('content-too-large', { detail: 'The chunk extensions are too large.' });
    default:
      return new ProblemError('bad-request', { detail: 'The request is not valid HTTP/1.1.' });
  }
}

function refuse(request: IncomingMessage, response: ServerResponse, error: ProblemError): void {
  const requestId = requestIdOf(request);
  const answer = problemAnswer(error, pathOf(request.url), requestId);
  response.writeHead(answer.status, {
    ...answer.headers,
    'cache-control': 'no-store',
    'x-request-id': requestId,
    'content-length': Buffer.byteLength(answer.body),
    connection: 'close',
  });
  response.end(answer.body);
}

/** Node gives no response object here, so the answer is written to the socket by hand. */
function answerRaw(socket: Duplex, error: ProblemError, requestId: string): void {
  const { status, headers, body } = problemAnswer(error, '', requestId);
  const fields = {
    ...headers,
    'cache-control': 'no-store',
    'x-request-id': requestId,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

function pathOf(url: string | undefined): string {
  return (url ?? '/').split('?', 1)[0] ?? '/';
}
