/**
 * Sends a small request to a service all the time. It has a thread of its own, so that the work of a scenario does not
 * delay it.
 */
import { once } from 'node:events';
import { Agent, request, type IncomingMessage, type RequestOptions } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** What is sent, and how long after each answer it is sent again. */
export interface Probe extends Pick<RequestOptions, 'method'> {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly pauseMs: number;
}

/** One answer. */
export interface Probed {
  /** 0 without an answer. */
  readonly status: number;
  readonly ms: number;
}

/** Starts to send. @returns a function that ends it, and gives all answers */
export function startProbe(probe: Probe): () => Promise<Probed[]> {
  const worker = new Worker(new URL(import.meta.url), { workerData: probe });
  return async () => {
    worker.postMessage('stop');
    const [answers] = (await once(worker, 'message')) as [Probed[]];
    return answers;
  };
}

async function run({ url, method, headers, body, pauseMs }: Probe): Promise<Probed[]> {
  const agent = new Agent({ keepAlive: true });
  const answers: Probed[] = [];
  const send = async (): Promise<number> => {
    const sent = request(url, { agent, method, headers }).end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    return response.statusCode ?? 0;
  };
  let isOver = false;
  parentPort?.once('message', () => {
    isOver = true;
  });
  while (!isOver) {
    const started = performance.now();
    const status = await send().catch(() => 0);
    answers.push({ status, ms: performance.now() - started });
    await sleep(pauseMs);
  }
  agent.destroy();
  return answers;
}

if (!isMainThread) parentPort?.postMessage(await run(workerData as Probe));
