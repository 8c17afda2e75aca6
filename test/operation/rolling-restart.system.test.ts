import { once } from 'node:events';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { adminKey } from '../support/send.ts';
import { createPrompt, setUpProcesses } from './operation-harness.ts';

const processes = setUpProcesses();

/** Sends each request to the next process that was ready at the last poll. It repeats no request. */
async function startBalancer(pollMs: number): Promise<{ server: Server; url: string; add(url: string): void }> {
  const ready = new Map<string, boolean>();
  const agent = new Agent({ keepAlive: true });
  let turn = 0;
  const server = createServer((incoming, answer) => {
    const targets = [...ready].filter(([, isReady]) => isReady).map(([url]) => url);
    turn += 1;
    const target = targets[turn % targets.length] ?? 'http://none.invalid';
    const { method, headers } = incoming;
    const forward = request(target + (incoming.url ?? ''), { method, headers, agent }, (response) => {
      answer.writeHead(response.statusCode ?? 502);
      response.pipe(answer);
    });
    forward.on('error', (error) => answer.writeHead(502).end(error.message));
    incoming.pipe(forward);
  });
  const poll = setInterval(() => {
    for (const url of ready.keys()) {
      void fetch(`${url}/health/ready`).then(
        ({ ok }) => ready.set(url, ok),
        () => ready.set(url, false),
      );
    }
  }, pollMs);
  server.on('close', () => {
    clearInterval(poll);
    agent.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, url: `http://127.0.0.1:${port}`, add: (url) => void ready.set(url, true) };
}

it('a rolling restart behind a load balancer loses no request', async () => {
  // In many times the interval of the polls, however busy the machine is.
  const settings = { SHUTDOWN_DELAY_MS: '1500' };
  const balancer = await startBalancer(100);
  const old = [await processes.start(settings), await processes.start(settings)];
  for (const { url } of old) balancer.add(url);
  const prompt = await createPrompt(balancer);

  let restarted = false;
  const answers: Record<string, number> = {};
  const keepCalling = async (): Promise<void> => {
    while (!restarted) {
      const answer = await fetch(balancer.url + prompt, { headers: { 'x-api-key': adminKey } });
      const outcome = answer.status === 200 ? '200' : `${answer.status}: ${await answer.text()}`;
      await answer.body?.cancel();
      answers[outcome] = (answers[outcome] ?? 0) + 1;
      await sleep(5);
    }
  };
  const clients = Promise.allSettled(Array.from({ length: 8 }, keepCalling));
  for (const service of old) {
    balancer.add((await processes.start(settings)).url);
    expect((await service.stop()).code).toBe(0);
  }
  restarted = true;
  expect((await clients).filter(({ status }) => status === 'rejected')).toEqual([]);
  balancer.server.closeAllConnections();
  balancer.server.close();
  expect(answers).toEqual({ '200': expect.any(Number) });
  expect(answers['200']).toBeGreaterThan(100);
});
