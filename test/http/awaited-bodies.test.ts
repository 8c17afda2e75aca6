import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { ProblemError } from '../../src/base/errors/problem-error.ts';
import { readJsonBody } from '../../src/http/body.ts';
import { createMemoryBudget } from '../../src/base/limits/memory-budget.ts';
import { createTurns } from '../../src/base/runtime/turns.ts';

const limit = 16 * 1024 * 1024;
const budget = createMemoryBudget({ perKey: 4 * limit, perProcess: 4 * limit });
const { signal } = new AbortController();
const turns = createTurns();

/** Answers with the number of characters in the body's `text`. */
const server = createServer((request, response) => {
  const memory = budget.forRequest('key');
  void readJsonBody(request, response, { bodyLimit: limit }, { family: 'key', budget, own: () => memory, turns })
    .then(
      ({ value }) => response.end(String((value as { text: string }).text.length)),
      (error: unknown) => response.writeHead(error instanceof ProblemError ? error.status : 500).end(),
    )
    .finally(() => {
      memory.release();
    });
});

beforeEach(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  mock.timers.enable({ apis: ['setInterval'] });
  now = performance.now();
  // Only once: `restoreAll` restores what a second mock replaced, which is the first.
  mock.method(performance, 'now', () => now);
});
afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
  server.closeAllConnections();
  server.close();
});

let now = 0;

/** Lets time pass. */
function pass(milliseconds: number): void {
  now += milliseconds;
  mock.timers.tick(milliseconds);
}

/** Waits until so many requests wait for memory. */
async function untilWaiting(count: number): Promise<void> {
  while (budget.use.waiting !== count) await nextTurn();
}

it('a body of unknown length is late only if it keeps others waiting for long', async () => {
  const leave = await budget.awaitBody('other', limit, signal);
  const { port } = server.address() as AddressInfo;
  const sent = httpRequest({ port, method: 'POST', headers: { 'content-type': 'application/json' } });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  sent.write(`{"text":"${'x'.repeat(100_000)}`);

  await untilWaiting(1);
  pass(15_000);
  leave();
  await untilWaiting(0);
  const next = budget.awaitBody('third', limit, signal);
  pass(4_000);
  sent.end('"}');
  const [answer] = await answered;
  expect(answer.statusCode).toBe(200);
  expect(String(await answer.setEncoding('utf8').toArray())).toBe('100000');

  (await next)();
  expect(budget.use).toMatchObject({ reserved: 0, waiting: 0 });
});
