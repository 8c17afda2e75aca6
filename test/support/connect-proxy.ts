import { once } from 'node:events';
import { createServer as createPlainServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A request for a tunnel. */
export interface TunnelRequest {
  /** What CONNECT asked for: host and port. */
  readonly authority: string;
  readonly authorization: string | undefined;
}

/** A proxy of tests (HTTP CONNECT). */
export interface ConnectProxy {
  readonly origin: string;
  readonly port: number;
  /** All requests for tunnels, in their order. */
  readonly requests: readonly TunnelRequest[];
  forget(): void;
  /** Ends all tunnels. */
  cut(): void;
  close(): Promise<void>;
}

export interface ConnectProxyOptions {
  /** The only `user:password` that it accepts; undefined accepts all. */
  readonly credentials?: string;
  /** A status with which it refuses a tunnel, or `silent` if it does not answer. */
  readonly refuse?: (authority: string) => number | 'silent' | undefined;
  /** Where tunnels lead, so that addresses can stand for servers of the test; by default to what was asked for. */
  readonly route?: (authority: string) => number | undefined;
  readonly tls?: ServerOptions;
}

export async function startConnectProxy(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const { credentials, refuse, route, tls } = options;
  const requests: TunnelRequest[] = [];
  const sockets = new Set<Duplex>();
  const server = tls === undefined ? createPlainServer() : createSecureServer(tls);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.on('connect', ({ url: authority = '', headers }: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => undefined);
    const authorization = headers['proxy-authorization'];
    requests.push({ authority, authorization });
    const expected = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
    const status = expected !== undefined && authorization !== expected ? 407 : refuse?.(authority);
    if (status === 'silent') return;
    if (status !== undefined) {
      socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 4\r\n\r\nno\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${authority}`);
    const routed = route?.(authority);
    const upstream =
      routed === undefined
        ? connect(Number(port) || 80, hostname.replace(/^\[|\]$/g, ''))
        : connect(routed, '127.0.0.1');
    sockets.add(upstream);
    upstream.on('close', () => sockets.delete(upstream));
    upstream.once('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => {
      // Within a tunnel the proxy says nothing.
      if (upstream.connecting) socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
      else socket.destroy();
    });
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests,
    forget() {
      requests.length = 0;
    },
    cut,
    async close() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
