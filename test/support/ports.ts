import { createServer, type Server } from 'node:net';

/** The system takes the ports for outgoing connections and for servers without a port of their own from 32768 up (Linux). */
const [first, last] = [10_000, 32_000];

/**
 * A port for a server that is to be stopped and started again, or that another program starts: nobody takes it meanwhile,
 * because the system gives it to nobody by itself.
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
