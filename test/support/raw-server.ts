/** A server of tests that answers with the bytes that a test says, whether they are HTTP or not. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/**
 * What the server sends when a request is complete: characters of Latin-1. `end` and `reset` close the connection;
 * before it, or without an answer; at once, or after some milliseconds.
 */
export type RawAnswer = string | { readonly text?: string; readonly then: 'end' | 'reset'; readonly afterMs?: number };

export interface RawServer {
  readonly port: number;
  /** For each request the number of its connection. */
  readonly requests: readonly number[];
  close(): Promise<void>;
}

export interface RawServerOptions {
  readonly tls?: TlsOptions | undefined;
  /** Whether each byte is written alone. */
  readonly isSlow?: boolean;
  /** Whether it answers before the request is complete, and reads the rest after the head of its answer. */
  readonly isHasty?: boolean;
  /** @param nth request of its connection, from 0. @param number of all requests before it */
  readonly answer: (nth: number, number: number) => RawAnswer;
}

export async function startRawServer({
  tls,
  isSlow = false,
  isHasty = false,
  answer,
}: RawServerOptions): Promise<RawServer> {
  const requests: number[] = [];
  const sockets = new Set<Socket>();
  const respond = async (socket: Socket, nth: number): Promise<void> => {
    const said = answer(nth, requests.length - 1);
    const { text = '', then = undefined, afterMs = 0 } = typeof said === 'string' ? { text: said } : said;
    if (isSlow) {
      let sent = '';
      for (const byte of Buffer.from(text, 'latin1')) {
        socket.write(Uint8Array.of(byte));
        await turn();
        sent += String.fromCharCode(byte);
        if (sent.endsWith('\r\n\r\n')) socket.resume();
      }
    } else {
      socket.write(text, 'latin1');
      socket.resume();
    }
    if (afterMs > 0) await sleep(afterMs);
    if (then === 'end') socket.end();
    if (then !== 'reset') return;
    // Node resets no connections of TLS.
    if (tls === undefined) socket.resetAndDestroy();
    else socket.destroy();
  };
  let connections = 0;
  const serve = (socket: Socket): void => {
    const connection = connections;
    connections += 1;
    let nth = 0;
    let received = '';
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.setEncoding('latin1').on('data', (piece: string) => {
      if (isHasty) {
        if (nth === 0) {
          socket.pause();
          void respond(socket, nth);
        }
        nth += 1;
        return;
      }
      received += piece;
      const head = received.indexOf('\r\n\r\n');
      const length = Number(/^content-length: (\d+)/im.exec(received)?.[1] ?? 0);
      if (head === -1 || received.length < head + 4 + length) return;
      received = '';
      requests.push(connection);
      void respond(socket, nth);
      nth += 1;
    });
  };
  const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
