/**
 * The receiver of the benchmark, in a process of its own. It verifies both signatures of each request over the received
 * bytes, answers 200, and reports the arrivals to its parent. Messages from the parent: `{secrets}` (by integration
 * id), and `'report'`.
 */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The order of an event, and the time of its arrival, in milliseconds since the epoch. */
export type SinkArrival = readonly [orderId: string, at: number];

export type SinkMessage =
  | { readonly port: number }
  /** Sent several times a second. */
  | { readonly received: number }
  | { readonly arrivals: readonly SinkArrival[]; readonly unverified: number };

/** The wall-clock time with fractions of a millisecond. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

if (import.meta.main) {
  let secrets: Readonly<Record<string, string>> = {};
  let arrivals: SinkArrival[] = [];
  let received = 0;
  let unverified = 0;
  const tell = (message: SinkMessage): void => void process.send?.(message);

  const isVerified = ({ headers }: IncomingMessage, body: Buffer): boolean => {
    const secret = secrets[String(headers['x-service-application-id'])];
    if (secret === undefined) return false;
    const prefix = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.`;
    return (
      headers['x-service-signature'] === createHmac('sha256', secret).update(body).digest('hex') &&
      headers['webhook-signature'] === `v1,${createHmac('sha256', secret).update(prefix).update(body).digest('base64')}`
    );
  };
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
      if (!isVerified(request, body)) unverified += 1;
      arrivals.push([String(request.headers['x-service-event-target-uuid']), preciseNow()]);
      received += 1;
      response.end();
    });
  });
  server.listen(0, '127.0.0.1', () => {
    tell({ port: (server.address() as AddressInfo).port });
  });
  let told = 0;
  setInterval(() => {
    if (received !== told) tell({ received });
    told = received;
  }, 10);
  process.on('message', (message: 'report' | { readonly secrets: Readonly<Record<string, string>> }) => {
    if (message !== 'report') {
      secrets = message.secrets;
      return;
    }
    tell({ arrivals, unverified });
    arrivals = [];
    received = 0;
    told = 0;
    unverified = 0;
  });
  process.on('disconnect', () => process.exit(0));
}
