import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

/** The service cannot listen where it is told to. The message is for the operator. */
export class ListenError extends Error {
  constructor(host: string, port: number, cause: NodeJS.ErrnoException) {
    super(`The service cannot listen on ${host}, port ${port}: ${reasons[cause.code ?? ''] ?? cause.message}.`, {
      cause,
    });
    this.name = 'ListenError';
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses this port. Stop it, or choose another PORT (0 takes any free one)',
  EACCES: 'this user may not use the port. Choose a PORT from 1024 on',
  EADDRNOTAVAIL: 'this machine does not have the address. Set HOST to one that it has',
  ENOTFOUND: 'there is no such host name. Set HOST to a name or address of this machine',
};

/** Starts listening. @returns the address as a URL @throws ListenError */
export function listen(server: Server, host: string, port: number): Promise<string> {
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
 * Stops accepting and lets requests under way finish.
 * Kept-alive connections are closed as soon as they are idle; what is still busy at the end is cut.
 */
export async function closeServer(server: Server, timeoutMs: number, log: Logger): Promise<void> {
  const closed = new Promise<void>((resolve) =>
    server.close(() => {
      resolve();
    }),
  );
  const idle = setInterval(() => {
    server.closeIdleConnections();
  }, 50);
  const end = new AbortController();
  await Promise.race([
    closed,
    sleep(timeoutMs, undefined, { signal: end.signal }).then(
      () => {
        log.warn('requests still under way were cut off');
        server.closeAllConnections();
      },
      () => undefined,
    ),
  ]);
  end.abort();
  clearInterval(idle);
  await closed;
}
