import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { createLookUp } from '../../src/base/outbound/look-up.ts';
import { createProviderHttp, TextInPieces } from '../../src/models/transport/http.ts';
import { maxOtherBytes } from '../../src/models/transport/streamed-response.ts';
import { ProviderHttpError } from '../../src/models/transport/whole-response.ts';
import { retryAfterOf } from '../../src/models/call/classify.ts';
import { startDnsServer } from '../support/dns-server.ts';

const lookUp = createLookUp();
let server: Server | undefined;

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

describe('fetch', () => {
  it('sends method, path, headers and body, and returns status, headers and body', async () => {
    const url = await serve((request, response) => {
      request.setEncoding('utf8');
      let body = '';
      request.on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        response.writeHead(201, { 'X-Two': ['a', 'b'] });
        response.end(JSON.stringify([request.method, request.url, request.headers['x-one'], body]));
      });
    });
    const http = createProviderHttp({ lookUp });
    const response = await http.fetch(`${url}/p?q=1`, { method: 'POST', headers: { 'X-One': '1' }, body: 'é' });
    expect(response).toMatchObject({ status: 201, ok: true });
    expect(response.headers.get('x-two')).toBe('a, b');
    expect(await response.json()).toEqual(['POST', '/p?q=1', '1', 'é']);
    await http.close();
  });

  it('sends a text in pieces with its length, and characters whole', async () => {
    const text = `${'x'.repeat(65_535)}😀${'é'.repeat(70_000)}`;
    const url = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => response.end(JSON.stringify([request.headers, Buffer.concat(chunks).toString()])));
    });
    const http = createProviderHttp({ lookUp });
    const body = new TextInPieces(['{', text, '', '}']);
    const [headers, sent] = (await (await http.fetch(url, { method: 'POST', body })).json()) as [object, string];
    expect(headers).toMatchObject({ 'content-length': String(Buffer.byteLength(text) + 2) });
    expect(headers).not.toHaveProperty('transfer-encoding');
    expect(sent).toBe(`{${text}}`);
    await http.close();
  });

  it('takes an answer that comes before the end of a body in pieces, and stops sending when canceled', async () => {
    const closed = Promise.withResolvers<unknown>();
    const url = await serve((request, response) => {
      if (request.url === '/refused') response.writeHead(413, { Connection: 'close' }).end('{}');
      else request.once('data', () => canceled.abort(new Error('no longer wanted'))).once('close', closed.resolve);
    });
    const canceled = new AbortController();
    const http = createProviderHttp({ lookUp });
    const body = new TextInPieces(['x'.repeat(10_000_000)]);
    expect(await http.fetch(`${url}/refused`, { method: 'POST', body })).toMatchObject({ status: 413 });
    const call = http.fetch(url, { method: 'POST', body, signal: canceled.signal });
    await expect(call).rejects.toThrow('no longer wanted');
    await closed.promise;
    await http.close();
  });

  it.each([301, 302, 303, 307, 308])('does not follow a %i', async (status) => {
    let visits = 0;
    const url = await serve((_request, response) => {
      visits += 1;
      response.writeHead(status, { Location: '/elsewhere' });
      response.end();
    });
    const http = createProviderHttp({ lookUp });
    expect(await http.fetch(url, { method: 'POST', body: '{}' })).toMatchObject({ status, ok: false });
    expect(visits).toBe(1);
    await http.close();
  });

  it.each([
    ['announced', true],
    ['not announced', false],
  ])('reads no more than the limit, %s', async (_how, announced) => {
    const url = await serve((request, response) => {
      const length = request.url === '/fits' ? 1_000 : 1_001;
      if (announced) response.setHeader('Content-Length', length);
      response.end('x'.repeat(length));
    });
    const http = createProviderHttp({ lookUp, maxResponseBytes: 1_000 });
    expect(await (await http.fetch(`${url}/fits`)).text()).toHaveLength(1_000);
    await expect(http.fetch(`${url}/exceeds`)).rejects.toMatchObject({ reason: 'too-large', status: 200 });
    await http.close();
  });

  it('reads no more of a body in pieces than the usual limit, unless its caller takes more', async () => {
    const piece = Buffer.alloc(1024 * 1024);
    const pieces = maxOtherBytes / piece.length + 1;
    const url = await serve((_request, response) => {
      Readable.from(Array.from({ length: pieces }, () => piece)).pipe(response);
    });
    const http = createProviderHttp({ lookUp });
    const read = async (mostBytes?: number): Promise<number> => {
      const { body } = await http.streamFetch(url, {}, mostBytes);
      let bytes = 0;
      for await (const { length } of body ?? []) bytes += length;
      return bytes;
    };
    await expect(read()).rejects.toMatchObject({ reason: 'too-large', status: 200 });
    expect(await read(pieces * piece.length)).toBe(pieces * piece.length);
    await http.close();
  });

  it('opens at most the allowed number of connections', async () => {
    const sockets = new Set<unknown>();
    const url = await serve((request, response) => {
      sockets.add(request.socket);
      setTimeout(() => response.end('{}'), 10);
    });
    const http = createProviderHttp({ lookUp, connections: 3 });
    await Promise.all(Array.from({ length: 12 }, () => http.fetch(url)));
    expect(sockets.size).toBe(3);
    await http.close();
  });

  it('stops a request that still waits for its connection', async () => {
    const url = await serve(() => {});
    const http = createProviderHttp({ lookUp, connections: 1 });
    const first = new AbortController();
    const second = new AbortController();
    const blocking = http.fetch(url, { signal: first.signal });
    const waiting = http.fetch(url, { signal: second.signal });
    second.abort(new Error('Enough.'));
    await expect(waiting).rejects.toThrow('Enough.');
    first.abort(new Error('Me too.'));
    await expect(blocking).rejects.toThrow('Me too.');
    await http.close();
  });

  it('reports a refused connection', async () => {
    const http = createProviderHttp({ lookUp });
    const error: unknown = await http.fetch('http://127.0.0.1:9').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ProviderHttpError);
    expect(error).toMatchObject({ reason: 'unreachable', status: undefined, cause: { code: 'ECONNREFUSED' } });
    await http.close();
  });
});

describe('names of providers', () => {
  it('that are not answered do not delay others', async () => {
    const url = await serve((_request, response) => response.end('alive'));
    const names = await startDnsServer((name) => (name === 'alive.test' ? ['127.0.0.1'] : 'silence'));
    const http = createProviderHttp({ lookUp: createLookUp({ servers: [names.address], timeoutMs: 500 }) });
    const dead = Promise.allSettled(Array.from({ length: 16 }, (_, index) => http.fetch(`http://dead-${index}.test/`)));
    const alive = http.fetch(url.replace('127.0.0.1', 'alive.test')).then((response) => response.text());
    expect(await Promise.race([dead.then(() => 'the dead were first'), alive])).toBe('alive');
    for (const outcome of await dead) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { reason: 'unreachable' } });
    }
    await names.close();
    await http.close();
  });
});

describe('retryAfterOf', () => {
  const now = Date.UTC(2026, 10, 21, 12, 0, 0);

  it.each([
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['fractions', { 'retry-after': '0.5' }, 500],
    ['a date', { 'retry-after': 'Sat, 21 Nov 2026 12:00:09 GMT' }, 9_000],
    ['a date in the past', { 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
    ['milliseconds first', { 'retry-after-ms': '250', 'retry-after': '1' }, 250],
    ['a day at most', { 'retry-after': '999999' }, 86_400_000],
    ['a day of many digits', { 'retry-after': '99999999999' }, 86_400_000],
    ['many milliseconds', { 'retry-after-ms': '99999999999' }, 86_400_000],
    ['a date of RFC 850', { 'retry-after': 'Saturday, 21-Nov-26 12:00:09 GMT' }, 9_000],
    ['nothing', {}, undefined],
    ['a negative number', { 'retry-after': '-5' }, undefined],
    ['an endless number', { 'retry-after': '1e999' }, undefined],
    ['words', { 'retry-after': 'soon' }, undefined],
  ])('reads %s', (_what, headers, expected) => {
    expect(retryAfterOf(headers, new Date(now))).toBe(expected);
  });
});
