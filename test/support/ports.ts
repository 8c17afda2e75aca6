import { createServer, type Server } from 'node:net';

/** On Linux, the system assigns ports from 32768 up to outgoing connections and to servers without a fixed port. */
const [first, last] = [10_000, 32_000];

/**
 * A port for a server that is stopped and started again, or that another program starts. The system never assigns it,
 * so it stays free.
 */
export async function reservePort(): Promise<number> {
  for (;;) {
    const port = first + Math.floor(Math.random() * (last - first));
    const server = await listen(port).catch(() => undefined);
    if (server === undefined) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(port, '127.0.0.1', () => {
      resolve(server);
    });
  });
}
