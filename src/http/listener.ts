import { randomUUID } from 'node:crypto';
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ProblemError } from '../base/errors/problem-error.ts';
import { Connection } from './connection.ts';
import { findAmbiguity } from './ambiguity.ts';
import { expressMessages } from './express-messages.ts';
import { problemAnswer } from './problem-response.ts';
import { requestIdOf } from './request-context.ts';
import { closeUnlessRead } from './unread-body.ts';

/** Time limits for clients, in milliseconds. */
export interface ConnectionLimits {
  /** For the head of a request. */
  readonly head: number;
  /** For head and body together. */
  readonly request: number;
  /** Between two checks for late requests: the answer can be late by this time. */
  readonly check: number;
  /** Without taking any part of an answer. After this time the connection is closed. */
  readonly answer: number;
}

const defaultLimits: ConnectionLimits = { head: 20_000, request: 60_000, check: 5_000, answer: 60_000 };
/** How long remaining input is read and ignored, so that the client receives the refusal. */
const lingerMs = 2_000;
/** Maximum number of connections. Above it, idle connections are closed. */
const maxConnections = 10_000;

/** The most connections with far more requests than can be answered, of some megabytes each. The oldest are closed. */
const maxFloods = 8;

/** An HTTP server that can stop without disturbing its clients. */
export interface HttpServer {
  readonly server: Server;
  /** Makes every later answer announce the end of its connection and close it. */
  announceClose(): void;
}

/**
 * An HTTP server whose own refusals (unparseable requests, slow requests, oversized header fields, `Expect`, `CONNECT`)
 * are problem documents too. The application can refuse a request before its body is sent, and gets the requests of a
 * connection one at a time.
 */
export function createHttpServer(
  application: RequestListener,
  { head, request, check, answer }: ConnectionLimits = defaultLimits,
): HttpServer {
  const connections = new Map<Duplex, Connection>();
  /** Connections that sent many requests at once and are still being answered. */
  const floods = new Set<Socket>();
  let isClosing = false;
  /** Runs the work when all earlier requests are answered. */
  const inTurn = (work: RequestListener): RequestListener => {
    const begin: RequestListener = (incoming, response) => {
      if (isClosing) response.setHeader('connection', 'close');
      closeUnlessRead(incoming, response);
      work(incoming, response);
    };
    return (incoming, response) => {
      if (connections.get(incoming.socket)?.admit(response, begin) === true) begin(incoming, response);
    };
  };
  const guarded = inTurn((incoming, response) => {
    const mistake = findAmbiguity(incoming);
    if (mistake === undefined) application(incoming, response);
    else refuse(incoming, response, new ProblemError('bad-request', { detail: mistake }));
  });
  const server = createServer(
    {
      headersTimeout: head,
      requestTimeout: request,
      connectionsCheckingInterval: check,
      keepAliveTimeout: 65_000,
      maxHeaderSize: 32 * 1024,
      requireHostHeader: false,
      ...expressMessages(application),
    },
    guarded,
  );
  server.on('connection', (socket: Socket) => {
    const onFlood = (): void => {
      floods.add(socket);
      const [oldest] = floods;
      if (floods.size > maxFloods) oldest?.destroy();
    };
    connections.set(socket, new Connection(socket, onFlood));
    socket.once('close', () => {
      connections.delete(socket);
      floods.delete(socket);
    });
  });
  server.maxConnections = maxConnections;
  server.on('drop', () => {
    server.closeIdleConnections();
  });
  const looks = setInterval(() => {
    const now = performance.now();
    for (const connection of connections.values()) {
      if (connection.isStalled(now, answer)) connection.socket.destroy();
    }
  }, answer / 12).unref();
  server.on('close', () => {
    clearInterval(looks);
  });
  // `100 Continue` is sent when the body is about to be read, after authentication and the size check.
  server.on('checkContinue', guarded);
  server.on(
    'checkExpectation',
    inTurn((incoming, response) => {
      const detail = 'The only value of Expect that the service supports is 100-continue.';
      refuse(incoming, response, new ProblemError('expectation-failed', { detail }));
    }),
  );
  server.on('connect', (incoming: IncomingMessage, socket: Duplex) => {
    const error = new ProblemError('method-not-allowed', { detail: 'This is not a proxy.' });
    // Node no longer tells the earlier answer, which may be in progress, that it can go on.
    socket.on('drain', () => connections.get(socket)?.answer?.emit('drain'));
    connections.get(socket)?.end(() => {
      answerRaw(socket, error, requestIdOf(incoming), '');
    });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else {
      connections.get(socket)?.end(() => {
        // Requests after one that closes the connection are not answered (RFC 9112, section 9.6).
        if (error.code === 'HPE_CLOSED_CONNECTION') socket.end();
        else answerRaw(socket, unparseable(error.code), randomUUID(), pathOf(connections.get(socket)?.answer?.req.url));
      });
    }
  });
  return {
    server,
    announceClose() {
      isClosing = true;
      for (const { answer: begun } of connections.values()) {
        if (begun?.headersSent === false) begun.setHeader('connection', 'close');
      }
    },
  };
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
  const answer = problemAnswer(error, pathOf(request.url), requestId, request.headers);
  response.writeHead(answer.status, {
    ...answer.headers,
    'cache-control': 'no-store',
    'x-request-id': requestId,
    'content-length': Buffer.byteLength(answer.body),
    connection: 'close',
  });
  response.end(answer.body);
}

/** There is no response object here, so the answer is written to the socket. */
function answerRaw(socket: Duplex, error: ProblemError, requestId: string, instance: string): void {
  const { status, headers, body } = problemAnswer(error, instance, requestId);
  const fields = {
    ...headers,
    'cache-control': 'no-store',
    'x-request-id': requestId,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  const cut = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => {
    clearTimeout(cut);
  });
}

function pathOf(url: string | undefined): string {
  return (url ?? '/').split('?', 1)[0] ?? '/';
}
