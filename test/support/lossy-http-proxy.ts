import { Agent, createServer, request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * The fate of a request: it passes; its connection is cut before the service gets it; its answer is discarded after the
 * service has executed it; its answer is cut in the middle.
 */
export type Loss = 'none' | 'request' | 'answer' | 'half-answer';

export interface LossyHttpProxy {
  readonly url: string;
  /** The number of requests by fate. */
  readonly counts: Readonly<Record<Loss, number>>;
  close(): Promise<void>;
}

/**
 * Starts a proxy in front of a service that loses messages on request.
 *
 * @param choose called with the method and body of each request
 */
export async function startLossyHttpProxy(
  upstream: string,
  choose: (method: string, body: string) => Loss,
): Promise<LossyHttpProxy> {
  const agent = new Agent({ keepAlive: true });
  const counts: Record<Loss, number> = { none: 0, request: 0, answer: 0, 'half-answer': 0 };

  const relay = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    const loss = choose(request.method ?? '', body.toString());
    counts[loss] += 1;
    if (loss === 'request') {
      request.socket.destroy();
      return;
    }
    const { method, headers } = request;
    const forwarded = sendRequest(new URL(request.url ?? '', upstream), { method, headers, agent }).end(body);
    const [answer] = (await once(forwarded, 'response')) as [IncomingMessage];
    const content = await buffer(answer);
    if (loss === 'answer') {
      request.socket.destroy();
      return;
    }
    response.writeHead(answer.statusCode ?? 502, { ...answer.headers, 'content-length': content.length });
    if (loss === 'none') {
      response.end(content);
      return;
    }
    response.write(content.subarray(0, content.length / 2), () => {
      request.socket.destroy();
    });
  };

  const server = createServer((request, response) => {
    relay(request, response).catch(() => {
      request.socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };
}
