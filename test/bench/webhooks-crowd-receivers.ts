/**
 * The receivers of the benchmark with many integrations, in a process of their own: one for each path `/<index>`.
 * Messages from the parent: how they react from now on, or `'report'`.
 */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { preciseNow } from './webhooks-sink.ts';

/** Receivers below these indexes fail or hang. The others answer 200. */
export interface Reactions {
  /** Answer 500 to the first request after this message. */
  readonly failOnce: number;
  /** Never answer. */
  readonly hang: number;
}

/** The receiver, and the times of the request and of its event, in milliseconds since the epoch. */
export type Arrival = readonly [index: number, at: number, createdAt: number];

export type CrowdMessage =
  | { readonly ports: readonly number[] }
  | { readonly received: number }
  | { readonly arrivals: readonly Arrival[] };

let reactions: Reactions = { failOnce: 0, hang: 0 };
let failed = new Set<number>();
let arrivals: Arrival[] = [];
let answered = 0;
const tell = (message: CrowdMessage): void => void process.send?.(message);

/** Connections to one port could use up the ports of the other side. */
const listeners = 4;
const react: RequestListener = (request, response) => {
  const index = Number(request.url?.slice(1));
  const at = preciseNow();
  let body = '';
  request.setEncoding('utf8').on('data', (part: string) => (body += part));
  request.on('end', () => {
    arrivals.push([index, at, Date.parse((JSON.parse(body) as { createdAt: string }).createdAt)]);
    if (index < reactions.hang) return;
    answered += 1;
    if (index < reactions.failOnce && !failed.has(index)) {
      failed.add(index);
      response.writeHead(500).end();
    } else response.end();
  });
};
const ports = Array.from({ length: listeners }, async () => {
  const server = createServer({ keepAliveTimeout: 60_000 }, react).listen(0, '127.0.0.1', 4_096);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
});
tell({ ports: await Promise.all(ports) });
setInterval(() => {
  tell({ received: answered });
}, 20);
process.on('message', (message: 'report' | Reactions) => {
  if (message === 'report') tell({ arrivals });
  else reactions = message;
  arrivals = [];
  answered = 0;
  failed = new Set();
});
process.on('disconnect', () => process.exit(0));
