import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Exchange } from '../../src/http/exchange.ts';
import { openConnection } from '../support/raw-connection.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** The answers in order. */
const exchanges: Exchange[] = [];
let service: TestService;
let prompt: string;
beforeAll(async () => {
  service = await startTestService({ onExchange: (exchange) => exchanges.push(exchange) });
  const { body } = await service.call('POST', '/api/v1/prompts', {
    body: { name: 'Large', messages: [{ role: 'user', content: 'x'.repeat(500_000) }] },
  });
  prompt = `/api/v1/prompts/${(body as { id: string }).id}`;
});
afterAll(() => service.close());

function head(method: string, path: string, fields: Record<string, string> = {}): string {
  const all = { Host: 'test', Authorization: `Bearer ${service.adminKey}`, ...fields };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

function post(path: string, body: unknown, fields: Record<string, string> = {}): string {
  const text = JSON.stringify(body);
  const type = { 'Content-Type': 'application/json', 'Content-Length': String(text.length) };
  return `${head('POST', path, { ...type, ...fields })}${text}`;
}

function chunked(path: string, body: unknown): string {
  const fields = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
  const text = JSON.stringify(body);
  return `${head('POST', path, fields)}${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
}

const named = (name: string): object => ({ name, messages: [{ role: 'user', content: 'hi' }] });

async function answered(requestIdStart: string): Promise<Exchange[]> {
  await sleep(300);
  return exchanges.filter(({ requestId }) => requestId.startsWith(requestIdStart));
}

describe('requests that are sent before the answers to earlier ones', () => {
  it('are answered in order, whatever kind they are', async () => {
    const connection = openConnection(service.url);
    const id = (name: string): Record<string, string> => ({ 'X-Request-Id': name });
    connection.send(
      [
        head('GET', prompt, id('m1')),
        post('/api/v1/prompts', named('one'), id('m2')),
        head('GET', '/nothing', id('m3')),
        chunked('/api/v1/prompts', named('two')),
        head('DELETE', '/health/live', id('m5')),
        head('GET', '/api/v1/prompts?limit=1', { Authorization: 'Bearer wrong', ...id('m6') }),
        post('/api/v1/prompts', { name: 1 }, id('m7')),
        head('OPTIONS', '/health/live', id('m8')),
        '\r\n\r\n',
        head('GET', '/health/live', id('m9')),
      ].join(''),
    );
    const answers = await connection.answers(9);
    expect(answers.map(({ status }) => status)).toEqual([200, 201, 404, 201, 405, 401, 400, 204, 200]);
    expect(answers.map(({ headers }) => headers['x-request-id'])).toEqual(
      ['m1', 'm2', 'm3', expect.any(String), 'm5', 'm6', 'm7', 'm8', 'm9'], // oxfmt-ignore
    );
    expect(JSON.parse(answers[3]?.body ?? '')).toMatchObject({ name: 'two' });
    connection.socket.destroy();
  });

  it.each([1, 7, 100, 255, 1_000])('are answered in order when they arrive in pieces of %d bytes', async (size) => {
    const connection = openConnection(service.url);
    const bytes = Array.from({ length: 6 }, (_, index) =>
      index % 2 === 0 ? head('GET', `/nothing-${index}`) : post('/api/v1/prompts', named(`piece ${index}`)),
    ).join('');
    connection.socket.setNoDelay(true);
    for (let start = 0; start < bytes.length; start += size) {
      connection.send(bytes.slice(start, start + size));
      if (start % (size * 20) === 0) await sleep(1);
    }
    const answers = await connection.answers(6);
    expect(answers.map(({ status }) => status)).toEqual([404, 201, 404, 201, 404, 201]);
    expect(answers.map(({ body }) => JSON.parse(body) as { name?: string; instance?: string })).toMatchObject([
      ...[{ instance: '/nothing-0' }, { name: 'piece 1' }, { instance: '/nothing-2' }],
      ...[{ name: 'piece 3' }, { instance: '/nothing-4' }, { name: 'piece 5' }],
    ]);
    connection.socket.destroy();
  });

  const small = 'GET /n HTTP/1.1\r\nHost:\r\n\r\nPOST /n HTTP/1.1\r\nHost:\r\nContent-Length:2\r\n\r\n{}';

  it('are answered as long as no more than a hundred wait', async () => {
    const connection = openConnection(service.url);
    for (let count = 0; count < 500; count += 100) {
      connection.send(small.repeat(50));
      const answers = await connection.answers(count + 100);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
    }
    connection.socket.destroy();
  });

  it.each([0, 1])(
    'are answered up to the hundredth when a thousand arrive at once after %i others, and then the connection closes',
    async (before) => {
      const connection = openConnection(service.url);
      const request = 'GET /health/live HTTP/1.1\r\nHost:\r\n\r\n';
      connection.send(request.repeat(before));
      await connection.answers(before);
      connection.send(request.repeat(1_000));
      const text = await connection.rest();
      expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(before + 101);
      expect(text.toLowerCase().match(/connection: close/g)).toHaveLength(1);
    },
  );

  it('do not begin while the caller does not read an answer', async () => {
    const connection = openConnection(service.url);
    connection.socket.pause();
    const requests = Array.from({ length: 100 }, (_, index) => head('GET', prompt, { 'X-Request-Id': `u${index}` }));
    connection.send(requests.join(''));
    await sleep(700);
    // The operating system keeps this many for the two sockets, of half a megabyte each.
    expect((await answered('u')).length).toBeLessThan(30);
    connection.socket.resume();
    const answers = await connection.answers(100);
    expect(answers.map(({ headers }) => headers['x-request-id'])).toEqual(requests.map((_, index) => `u${index}`));
    connection.socket.destroy();
  });

  it('do not begin when the caller has closed the connection', async () => {
    const connection = openConnection(service.url);
    connection.socket.pause();
    connection.send(
      Array.from({ length: 100 }, (_, index) => head('GET', prompt, { 'X-Request-Id': `h${index}` })).join(''),
    );
    await sleep(300);
    connection.socket.resetAndDestroy();
    expect((await answered('h')).length).toBeLessThan(30);
  });

  it('wait until the body of the previous request was sent after 100-continue', async () => {
    const connection = openConnection(service.url);
    const text = JSON.stringify(named('continued'));
    const fields = {
      'Content-Type': 'application/json',
      'Content-Length': String(text.length),
      Expect: '100-continue',
    };
    connection.send(head('GET', '/nothing') + head('POST', '/api/v1/prompts', fields));
    expect((await connection.answers(2)).map(({ status }) => status)).toEqual([404, 100]);
    connection.send(text + head('GET', '/health/live'));
    expect((await connection.answers(4)).map(({ status }) => status)).toEqual([404, 100, 201, 200]);
    connection.socket.destroy();
  });

  it('are refused by Node only after the earlier answers', async () => {
    const expectations: [string, number][] = [
      ['this is not HTTP\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nHost: x\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`, 431],
      ['CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
      ['GET / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n', 417],
      ['GET / HTTP/1.1\r\n\r\n', 400],
    ];
    for (const [bytes, status] of expectations) {
      const connection = openConnection(service.url);
      connection.send(head('GET', prompt) + head('GET', '/nothing') + bytes + head('GET', '/health/live'));
      const answers = await connection.answers(3);
      expect(answers.map((answer) => answer.status)).toEqual([200, 404, status]);
      expect(await connection.rest()).not.toContain('"ok"');
    }
  });

  it('are not answered after an answer that closes the connection', async () => {
    const connection = openConnection(service.url);
    connection.send(head('GET', prompt, { Connection: 'close' }) + head('GET', '/health/live') + 'rubbish');
    const text = await connection.rest();
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    expect(text).toContain('xxx"');
  });
});
