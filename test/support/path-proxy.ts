import { once } from 'node:events';
import { createServer, request as sendRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

export interface PathProxy {
  /** Its origin, without the path. */
  readonly origin: string;
  close(): Promise<void>;
}

/** Starts a proxy that serves a service below a path: it removes the path from each request. Other paths get 502. */
export async function startPathProxy(upstream: string, basePath: string): Promise<PathProxy> {
  const server = createServer((request, response) => {
    const { method, headers, url = '' } = request;
    if (!url.startsWith(`${basePath}/`)) {
      response.writeHead(502).end();
      return;
    }
    const forward = async (): Promise<void> => {
      const forwarded = sendRequest(new URL(url.slice(basePath.length), upstream), { method, headers });
      const answered = once(forwarded, 'response');
      await pipeline(request, forwarded);
      const [answer] = (await answered) as [IncomingMessage];
      await pipeline(answer, response.writeHead(answer.statusCode ?? 502, answer.headers));
    };
    forward().catch(() => {
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
