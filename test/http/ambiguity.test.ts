import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { problem } from '../support/per-operation.ts';
import { openConnection } from '../support/raw-connection.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Requests that Node's parser accepts, but that proxies and gateways may read in another way. */
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const get = 'GET /health/live HTTP/1.1\r\n';
const post = 'POST /api/v1/prompts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
const chunk = '2\r\n{}\r\n0\r\n\r\n';

describe('a request that can be read in two ways is a 400 problem, and the connection ends', () => {
  it.each([
    ['two Host fields', `${get}Host: a\r\nHost: b\r\n\r\n`],
    ['the same Host twice', `${get}Host: a\r\nhost: a\r\n\r\n`],
    ['an invalid Host', `${get}Host: a b\r\n\r\n`],
    ['a Host with a path', `${get}Host: a/b\r\n\r\n`],
    ['a Host with user info', `${get}Host: a@b\r\n\r\n`],
    ['no version', 'GET /health/live\r\n\r\n'],
    ['no version, with fields', 'GET /health/live\r\nHost: x\r\n\r\n'],
    ['another version', 'GET /health/live HTTP/2.0\r\nHost: x\r\n\r\n'],
    ['a coding before chunked', `${post}Transfer-Encoding: gzip, chunked\r\n\r\n${chunk}`],
    ['chunked twice', `${post}Transfer-Encoding: chunked, chunked\r\n\r\n${chunk}`],
    ['chunked in two fields', `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`],
    ['chunked in HTTP/1.0', `${post.replace('1.1', '1.0')}Transfer-Encoding: chunked\r\n\r\n${chunk}`],
    ['two keys', `${get}Host: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n`],
    ['two media types', `${post}Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}`],
    ['lines without carriage returns', 'GET /health/live HTTP/1.1\nHost: x\n\n'],
  ])('%s', async (_name, bytes) => {
    const connection = openConnection(service.url);
    connection.send(`${bytes}${get}Host: x\r\n\r\n`);
    const text = await connection.rest();
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400']);
    expect(text.toLowerCase()).toContain('connection: close');
    expect(text).toContain('application/problem+json');
    expect(text).toContain(problem('bad-request'));
  });
});

describe('a request with one meaning is answered', () => {
  it.each([
    ['an empty Host', `${get}Host:\r\n\r\n`],
    ['a port', `${get}Host: gateway.example.com:8080\r\n\r\n`],
    ['an IPv6 address', `${get}Host: [::1]:8080\r\n\r\n`],
    ['HTTP/1.0 without Host', 'GET /health/live HTTP/1.0\r\n\r\n'],
    ['Chunked in capitals', `${get}Host: x\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n`],
  ])('%s', async (_name, bytes) => {
    const connection = openConnection(service.url);
    connection.send(bytes);
    expect(await connection.answers(1)).toMatchObject([{ status: 200, body: '{"status":"ok"}' }]);
    connection.socket.destroy();
  });
});
