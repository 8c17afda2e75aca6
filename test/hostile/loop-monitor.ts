/**
 * Measures the event loop of a service from inside: the processor time of its main thread between two turns. On a quiet
 * machine that is how long the loop stops. Waiting for a processor does not count, so others' work changes little.
 *
 * As a module that is loaded before the service it answers on a socket; `monitorLoop` asks there.
 */
import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { getHeapStatistics } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

const socketVariable = 'LOOP_MONITOR_SOCKET';

/** What was seen since the last question. */
export interface LoopFigures {
  /** The longest stop, in milliseconds. */
  readonly longestMs: number;
  /** The most bytes of the heap in use. */
  readonly heapBytes: number;
}

/** @returns settings for the start of a service, and how to ask it */
export function monitorLoop(): { environment: Record<string, string>; read: () => Promise<LoopFigures> } {
  const socketPath = join(tmpdir(), `loop-${crypto.randomUUID()}.sock`);
  return {
    environment: { NODE_OPTIONS: `--import=${import.meta.url}`, [socketVariable]: socketPath },
    async read() {
      const [answer] = (await once(request({ socketPath, agent: false }).end(), 'response')) as [IncomingMessage];
      return (await json(answer)) as LoopFigures;
    },
  };
}

function measure(socketPath: string): void {
  let figures = { longestMs: 0, heapBytes: 0 };
  let before = process.threadCpuUsage();
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    figures = {
      longestMs: Math.max(figures.longestMs, (user + system) / 1_000),
      heapBytes: Math.max(figures.heapBytes, getHeapStatistics().used_heap_size),
    };
  };
  setInterval(look, 2).unref();
  const server = createServer((_request, response) => {
    look();
    response.end(JSON.stringify(figures));
    figures = { longestMs: 0, heapBytes: 0 };
  });
  server.listen(socketPath).unref();
}

const { [socketVariable]: path } = process.env;
if (isMainThread && path !== undefined) measure(path);
