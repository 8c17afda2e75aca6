import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { allScopes } from '../../src/access/api-keys/feature.ts';
import { openConnection, type RawConnection } from '../support/raw-connection.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Of large requests are 10 MiB: a family can have half of them, for ten answers that it does not read. */
const environment = { REQUEST_MEMORY_MB: '16' };
const limits = { head: 20_000, request: 60_000, check: 5_000, answer: 1_000 };
const text = 'x'.repeat(1_000_000);

async function createPrompt({ call }: TestService): Promise<string> {
  const body = { name: 'Any', messages: [{ role: 'user', content: '{{text}}' }], selected_provider: 'echo' };
  return ((await call('POST', '/api/v1/prompts', { body })).body as { id: string }).id;
}

/** A body whose answer has a megabyte for each target. */
function testOf(targets: number): unknown {
  return { providers: Array.from({ length: targets }, () => ({ provider: 'echo' })), variables: { text } };
}

/** Sends a request and takes the first bytes of its answer. @returns its status */
async function begin(connection: RawConnection, request: string): Promise<number> {
  connection.send(request);
  const [head] = (await once(connection.socket, 'data')) as [string];
  connection.socket.pause();
  return Number(head.slice(9, 12));
}

describe('memory for answers that nobody reads', () => {
  let service: TestService;
  let path: string;
  let prompt: string;
  let invoker: string;
  const connections: RawConnection[] = [];
  beforeAll(async () => {
    service = await startTestService({ environment });
    prompt = await createPrompt(service);
    const run = await service.call('POST', `/api/v1/prompts/${prompt}/test`, { body: testOf(10) });
    path = `/api/v1/test-runs/${(run.body as { id: string }).id}/results`;
    invoker = await service.createKey('prompts:invoke');
  });
  afterEach(async () => {
    for (const { socket } of connections.splice(0)) socket.destroy();
    // Until the memory is free again.
    const { createKey, call } = service;
    const key = await createKey('prompts:read');
    await until(
      async () => (await call('GET', path, { key })).status,
      (status) => status === 200,
    );
  });
  afterAll(() => service.close());

  /** Asks for results until one is refused. @returns how many were not, and the status of that one */
  async function leaveUnread(key: string, most = 20): Promise<[number, number]> {
    const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    for (let count = 0; count < most; count += 1) {
      const connection = openConnection(service.url);
      connections.push(connection);
      const status = await begin(connection, head);
      if (status !== 200) return [count, status];
    }
    return [most, 200];
  }

  async function create(scopes: readonly string[], key: string): Promise<string> {
    const { body } = await service.call('POST', '/api/v1/api-keys', { key, body: { name: 'Any', scopes } });
    return (body as { key: string }).key;
  }

  async function invokeSmall(): Promise<number> {
    const body = { variables: { text: 'small' } };
    return (await service.call('POST', `/api/v1/prompts/${prompt}/invoke`, { body, key: invoker })).status;
  }

  it('leaves an eighth to small requests, whatever several keys hold', async () => {
    const counts: number[] = [];
    for (let count = 0; count < 4; count += 1) {
      counts.push((await leaveUnread(await service.createKey('prompts:read')))[0]);
    }
    expect(counts).toEqual([10, 5, 2, 1]);
    expect(await invokeSmall()).toBe(200);
  });

  it('is shared by a key and all keys that it creates', async () => {
    const maker = await create(['keys:manage', 'prompts:read'], service.adminKey);
    const children = [await create(['prompts:read'], maker), await create(['prompts:read', 'keys:manage'], maker)];
    const grandchild = await create(['prompts:read'], children[1] ?? '');
    expect(await leaveUnread(children[0] ?? '', 8)).toEqual([8, 200]);
    expect(await leaveUnread(grandchild)).toEqual([2, 429]);
    expect(await leaveUnread(maker)).toEqual([0, 429]);
    expect(await leaveUnread(await service.createKey('prompts:read'), 5)).toEqual([5, 200]);
    expect(await invokeSmall()).toBe(200);
  });

  it("is separate for keys that an administrator's key creates", async () => {
    const administrator = await create(allScopes, service.adminKey);
    expect(await leaveUnread(await create(['prompts:read'], administrator))).toEqual([10, 429]);
    expect(await leaveUnread(await create(['prompts:read'], administrator), 5)).toEqual([5, 200]);
  });
});

describe('a connection whose client takes nothing', () => {
  let service: TestService;
  let prompt: string;
  beforeAll(async () => {
    service = await startTestService({ connectionLimits: limits });
    prompt = await createPrompt(service);
    for (let count = 0; count < 8; count += 1) {
      const body = { name: 'Large', messages: [{ role: 'user', content: 'x'.repeat(1_000_000) }] };
      await service.call('POST', '/api/v1/prompts', { body });
    }
  });
  afterAll(() => service.close());

  it.each([
    ['results of a test run', () => ({ path: `/api/v1/prompts/${prompt}/test`, body: testOf(20) })],
    ['an export', () => ({ path: '/api/v1/prompts/export', count: 4 })],
    ['a page of a list', () => ({ path: '/api/v1/prompts?limit=100', count: 4 })],
    ['a whole list', () => ({ path: '/api/v1/prompts', count: 4 })],
    ['the contract', () => ({ path: '/openapi.json', count: 40 })],
    [
      'events',
      () => ({ path: `/api/v1/prompts/${prompt}/invoke`, body: { variables: { text }, stream: true }, count: 20 }),
    ],
  ])('is cut after the limit: %s', async (_kind, ask) => {
    const { path, body, count = 1 }: { path: string; body?: unknown; count?: number } = ask();
    const content = body === undefined ? '' : JSON.stringify(body);
    const fields = [
      `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
      ...['Host: x', `Authorization: Bearer ${service.adminKey}`],
      ...(body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${content.length}`]),
    ];
    const connection = openConnection(service.url);
    try {
      // More than the operating system keeps for the two sockets.
      const status = await begin(connection, `${fields.join('\r\n')}\r\n\r\n${content}`.repeat(count));
      expect([200, 201]).toContain(status);
      await sleep(3 * limits.answer);
      connection.socket.resume();
      await connection.rest();
      expect(connection.socket.bytesRead).toBeLessThan(19_000_000);
    } finally {
      connection.socket.destroy();
    }
  });
});
