import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';

/** Requests that are cheap to send but expensive to answer, and invalid requests that Node accepts. */
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe('bodies with very many mistakes', () => {
  const items = <Item>(count: number, item: (index: number) => Item): Item[] =>
    Array.from({ length: count }, (_, index) => item(index));
  const bodies: [string, string, object][] = [
    ['distinct items of a set', '/api/v1/api-keys', { name: 'x', scopes: items(49_000, (index) => `s${index}`) }],
    ['items of a wrong type', '/api/v1/prompts', { name: 'x', messages: items(49_000, () => 0) }],
    ['unknown members', '/api/v1/prompts', Object.fromEntries(items(49_000, (index) => [`k${index}`, 0]))],
    [
      'names that are none',
      '/api/v1/prompts/x/invoke',
      { variables: Object.fromEntries(items(49_000, (index) => [`${index}`, 0])) },
    ],
  ];

  // Finding all of their errors takes minutes for each of these.
  it.each(bodies)('are refused in no time: %s', async (_name, path, body) => {
    const before = process.cpuUsage();
    const answer = await service.call('POST', path, { body });
    expect(answer.status).toBe(400);
    expect(answer.body.errors.length).toBeGreaterThan(0);
    const { user } = process.cpuUsage(before);
    expect(user / 1_000).toBeLessThan(5_000);
  });

  it('are explained in full up to two thousand parts', async () => {
    const body = { name: 'x', messages: items(500, () => ({ role: 'robot' })) };
    const { body: problem } = await service.call('POST', '/api/v1/prompts', { body });
    expect(problem.errors).toHaveLength(20);
  });
});

describe('the instance of a problem', () => {
  function statusAndInstance(path: string): Promise<[string | undefined, string | undefined]> {
    const { hostname, port } = new URL(service.url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      let received = '';
      socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
      socket.on('close', () => {
        const { instance } = JSON.parse(/\{.*\}/.exec(received)?.[0] ?? '{}') as { instance?: string };
        resolve([/^HTTP\/1\.1 (\d+)/.exec(received)?.[1], instance]);
      });
      socket.on('error', reject);
      socket.end(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    });
  }

  it.each([
    ['/a|b', '/a%7Cb'],
    ['/a"b<c>', '/a%22b%3Cc%3E'],
    ['/a^`{}\\[]', '/a%5E%60%7B%7D%5C%5B%5D'],
    ['/%zz/%4', '/%25zz/%254'],
    ['/a%20b;c=d', '/a%20b;c=d'],
  ])('is a URI reference though the path %s is none', async (path, instance) => {
    expect(await statusAndInstance(path)).toEqual(['404', instance]);
  });

  it('is shortened for a very long path', async () => {
    const [, instance = ''] = await statusAndInstance(`/${'%20'.repeat(5_000)}`);
    expect(() => decodeURIComponent(instance)).not.toThrow();
    expect(instance.length).toBeLessThan(2_100);
  });
});
