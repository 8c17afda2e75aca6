import { createServer, Server as NetServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { HttpServer } from './listener.ts';

/** The service cannot listen on the configured address. The message is for the operator. */
export class ListenError extends Error {
  constructor(host: string, port: number, cause: NodeJS.ErrnoException) {
    super(`The service cannot listen on ${host}, port ${port}: ${reasons[cause.code ?? ''] ?? cause.message}.`, {
      cause,
    });
    this.name = 'ListenError';
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses this port. Stop it, or set PORT to another port (0 for any free port)',
  EACCES: 'this user may not use this port. Set PORT to 1024 or higher',
  EADDRNOTAVAIL: 'this machine does not have this address. Set HOST to an address of this machine',
  ENOTFOUND: 'the host name does not exist. Set HOST to a name or address of this machine',
};

/** Starts listening. @returns the address as a URL @throws ListenError */
export function listen(server: NetServer, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => {
      reject(new ListenError(host, port, error));
    };
    server.once('error', refuse);
    server.listen(port, host, () => {
      server.off('error', refuse);
      const address = server.address() as AddressInfo;
      resolve(`http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`);
    });
  });
}

/**
 * Checks that the service will be able to listen, before a start that takes long and prints what is shown only once.
 *
 * @throws ListenError
 */
export async function checkAddress(host: string, port: number): Promise<void> {
  if (port === 0) return;
  const server = createServer((socket) => socket.destroy());
  await listen(server, host, port);
  await new Promise((resolve) => server.close(resolve));
}

/** Time limits of stopping a server, in milliseconds. */
export interface ClosingTimes {
  /** How long idle connections stay open, so that an answer can announce the end of the connection to the client. */
  readonly grace: number;
  /** Time limit for everything. */
  readonly limit: number;
}

/**
 * Accepts no more connections and waits for requests in progress. Answers announce the end of their connection. Idle
 * connections are closed after the grace; connections that are busy at the limit are cut.
 */
export async function closeServer(http: HttpServer, { grace, limit }: ClosingTimes, log: Logger): Promise<void> {
  const { server } = http;
  http.announceClose();
  const end = new AbortController();
  const closed = new Promise<void>((resolve) => {
    // The server's `close` is not used, because it closes idle connections immediately: a client may be about to send
    // its next request.
    NetServer.prototype.close.call(server, () => {
      resolve();
    });
  }).then(() => {
    end.abort();
  });
  const after = async (milliseconds: number, work: () => void): Promise<void> => {
    await sleep(milliseconds, undefined, { signal: end.signal }).then(work, () => undefined);
  };
  let idle: NodeJS.Timeout | undefined;
  void after(Math.min(grace, limit), () => {
    server.closeIdleConnections();
    idle = setInterval(() => {
      server.closeIdleConnections();
    }, 50);
  });
  await after(limit, () => {
    log.warn('connections were closed before their requests had finished');
    server.closeAllConnections();
  });
  await closed;
  clearInterval(idle);
  // Ends the server's timers.
  server.close(() => undefined);
}
