/**
 * Asks a service for its liveness all the time. It has a thread of its own, so that the work of a scenario does not
 * delay it.
 */
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** Starts to ask. @returns a function that ends it, and gives the milliseconds of every answer */
export function startProbe(url: string): () => Promise<number[]> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { url } });
  return async () => {
    worker.postMessage('stop');
    const [times] = (await once(worker, 'message')) as [number[]];
    return times;
  };
}

async function probe(url: string): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  let isOver = false;
  parentPort?.once('message', () => {
    isOver = true;
  });
  while (!isOver) {
    const started = performance.now();
    const asked = request(`${url}/health/live`, { agent }).end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    times.push(performance.now() - started);
    await sleep(2);
  }
  agent.destroy();
  return times;
}

if (!isMainThread) parentPort?.postMessage(await probe((workerData as { url: string }).url));
