/** A webhook receiver for tests. It reacts to each request as the test says, and keeps the received bytes. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from './until.ts';

/** The reaction of a receiver to a request. */
export type Reaction =
  | {
      readonly kind: 'answer';
      readonly status?: number;
      readonly headers?: Record<string, string>;
      readonly body?: string | Uint8Array;
      /** Milliseconds before it answers. */
      readonly delay?: number;
      /** A promise that it waits for before it answers. */
      readonly after?: Promise<unknown>;
    }
  /** Reads the request and never answers. */
  | { readonly kind: 'hang' }
  /** Sends the head of a response byte by byte for ever, or a 200 with such a body. */
  | { readonly kind: 'trickle-head' }
  | { readonly kind: 'trickle-body' }
  /** Closes the connection instead of answering. */
  | { readonly kind: 'cut' }
  /** Closes the connection in the middle of the response body. */
  | { readonly kind: 'cut-body' }
  /** Answers with a long body, as fast as it is read. */
  | { readonly kind: 'flood'; readonly status?: number; readonly bytes: number }
  /**
   * Answers with these characters, then repeats the repeated ones for ever, as fast as they are read. The default is
   * 204.
   */
  | { readonly kind: 'raw'; readonly begin: string; readonly repeated: string | undefined }
  /** Answers with bytes that are not HTTP. */
  | { readonly kind: 'garbage' };

export interface ReceivedRequest {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The headers as they were received: names and values alternate. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

export interface Receiver {
  /** `http://127.0.0.1:<port>/hook` */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  /** The number of accepted connections. */
  readonly connections: number;
  /** The highest number of simultaneous requests. */
  readonly mostConcurrent: number;
  /** The bytes of endless answers that the sender has accepted. */
  readonly floodedBytes: number;
  /** The reaction to all other requests. At first, 200 with an empty body. */
  always(reaction: Reaction | ((request: ReceivedRequest) => Reaction)): void;
  /** The reactions to the next requests. */
  next(...reactions: Reaction[]): void;
  /** Resolves when this number of requests has arrived. */
  received(count: number): Promise<readonly ReceivedRequest[]>;
  forget(): void;
  close(): Promise<void>;
}

export interface ReceiverOptions {
  readonly host?: string;
  readonly port?: number;
  /** False keeps only the number of requests. */
  readonly record?: boolean;
}

export async function startReceiver({ host = '127.0.0.1', port = 0 }: ReceiverOptions = {}): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const script: Reaction[] = [];
  let usual: Reaction | ((request: ReceivedRequest) => Reaction) = { kind: 'answer' };
  const counts = { connections: 0, underWay: 0, mostConcurrent: 0, floodedBytes: 0 };

  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    counts.underWay += 1;
    counts.mostConcurrent = Math.max(counts.mostConcurrent, counts.underWay);
    response.on('close', () => {
      counts.underWay -= 1;
    });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received: ReceivedRequest = {
        at: Date.now(),
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers as Record<string, string>,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(chunks),
      };
      requests.push(received);
      const reaction = script.shift() ?? (typeof usual === 'function' ? usual(received) : usual);
      void react(reaction, request, response, counts);
    });
  });
  server.on('connection', () => {
    counts.connections += 1;
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}/hook`,
    port: address.port,
    requests,
    get connections() {
      return counts.connections;
    },
    get mostConcurrent() {
      return counts.mostConcurrent;
    },
    get floodedBytes() {
      return counts.floodedBytes;
    },
    always(reaction) {
      usual = reaction;
    },
    next(...reactions) {
      script.push(...reactions);
    },
    async received(count) {
      await until(
        () => requests.length,
        (length) => length >= count,
      );
      return requests;
    },
    forget() {
      requests.length = 0;
      script.length = 0;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function react(
  reaction: Reaction,
  request: IncomingMessage,
  response: ServerResponse,
  counts: { floodedBytes: number },
): Promise<void> {
  const { socket } = request;
  switch (reaction.kind) {
    case 'answer':
      if (reaction.delay !== undefined) await sleep(reaction.delay);
      await reaction.after;
      response.writeHead(reaction.status ?? 200, reaction.headers).end(reaction.body);
      return;
    case 'hang':
      return;
    case 'trickle-head':
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
      await trickle(() => socket.write('x'), socket);
      return;
    case 'trickle-body':
      response.writeHead(200);
      await trickle(() => response.write('x'), socket);
      return;
    case 'cut':
      // Otherwise the request could have met a connection that was closed before, and is sent again.
      socket.write('HTTP/1.1 102 Processing\r\n\r\n', () => {
        socket.destroy();
      });
      return;
    case 'cut-body':
      response.writeHead(200, { 'Content-Length': 1_000 });
      response.write('half', () => {
        socket.destroy();
      });
      return;
    case 'flood': {
      response.writeHead(reaction.status ?? 200, { 'Content-Length': reaction.bytes });
      const closed = new Promise((resolve) => response.once('close', resolve));
      const piece = Buffer.alloc(65_536, 'x');
      for (let left = reaction.bytes; left > 0 && !socket.destroyed; left -= piece.length) {
        counts.floodedBytes += Math.min(left, piece.length);
        const drained = response.write(left < piece.length ? piece.subarray(0, left) : piece);
        if (!drained) await Promise.race([new Promise((resolve) => response.once('drain', resolve)), closed]);
      }
      response.end();
      return;
    }
    case 'raw': {
      const { begin, repeated } = reaction;
      socket.on('error', () => undefined);
      socket.write(begin, 'latin1');
      if (repeated === undefined) {
        response.writeHead(204).end();
        return;
      }
      const piece = Buffer.from(repeated, 'latin1');
      const closed = new Promise((resolve) => socket.once('close', resolve));
      while (!socket.destroyed) {
        counts.floodedBytes += piece.length;
        await Promise.race([new Promise((resolve) => socket.write(piece, resolve)), closed]);
      }
      return;
    }
    case 'garbage':
      socket.end('SSH-2.0-OpenSSH_9.9\r\n');
      return;
  }
}

async function trickle(write: () => void, socket: { readonly destroyed: boolean }): Promise<void> {
  while (!socket.destroyed) {
    write();
    await sleep(100);
  }
}
