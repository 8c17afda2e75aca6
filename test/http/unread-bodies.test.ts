import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { operationTable, type OperationRow } from '../../generated/operations.ts';
import { setUpPeople } from '../access/people/people-harness.ts';
import { openConnection } from '../support/raw-connection.ts';

/** Bodies that are left unread: afterwards a connection answers the next request, or says that it closes. */
const people = setUpPeople();

const form = 'application/x-www-form-urlencoded';
const large = 200 * 1024;
const rows = Object.values<OperationRow>(operationTable);
const pathOf = (path: string): string => path.replaceAll(/\{\w+\}/g, 'none');

/** A request, and the status of its answer. */
type Case = readonly [method: string, path: string, status: number, fields?: Readonly<Record<string, string>>];

const cases: readonly Case[] = [
  // Pages and forms.
  ['POST', '/oidc/back-channel-logout', 413, { 'content-type': form }],
  ['POST', '/oidc/back-channel-logout', 415, { 'content-type': 'text/plain' }],
  ['POST', '/oidc/sign-in', 405],
  ['GET', '/oidc/sign-in', 303],
  ['GET', '/oidc/callback', 400],
  ['GET', '/dashboard', 200],
  ['GET', '/dashboard/prompts', 200],
  ['GET', '/dashboard/assets/none.js', 404],
  ['POST', '/dashboard', 405],
  ['GET', '/docs', 200],
  ['GET', '/docs/events', 200],
  ['GET', '/docs/changes', 200],
  // The contract, health, and what no operation answers.
  ['GET', '/openapi.json', 200],
  ['GET', '/health/live', 200],
  ['GET', '/health/ready', 200],
  ['OPTIONS', '/api/v1/prompts', 204],
  ['POST', '/nowhere', 404],
  ['POST', '/v1/nowhere', 404],
  ['GET', '/api/v1/prompts/%zz', 400],
  ['POST', '/api/v1/prompts', 403, { 'user-agent': 'Service-WebhookAgent/1' }],
  // Every path of the contract with a method that it does not have, and every operation with a key without a key.
  ...[...new Set(rows.map(({ path }) => path))].map((path): Case => ['PROPFIND', pathOf(path), 405]),
  ...rows.flatMap(({ method, path, needsKey }): Case[] => (needsKey ? [[method, pathOf(path), 401]] : [])),
];

const withKey: readonly Case[] = rows
  .filter(({ body, needsKey }) => body !== 'none' && needsKey)
  .flatMap(({ method, path, bodyLimit }): Case[] => [
    [method, pathOf(path), bodyLimit < large ? 413 : 415, { 'content-type': 'text/plain' }],
  ]);

function headOf([method, path, , fields = {}]: Case, framing: Readonly<Record<string, string>>, key?: string): string {
  const all = { host: 'x', ...(key !== undefined && { authorization: `Bearer ${key}` }), ...fields, ...framing };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

const next = 'GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n';

/** @returns the statuses of the answers to the request and to the next one on its connection, or that it closes */
async function sendTwo(request: Case, key?: string): Promise<unknown[]> {
  const connection = openConnection(people.service.url);
  connection.send(headOf(request, { 'content-length': String(large) }, key));
  // The answer is being made when the body comes.
  connection.send('x'.repeat(large));
  const [first] = await connection.answers(1);
  if (first?.headers['connection'] === 'close') {
    await connection.closed;
    return [first.status, 'closed'];
  }
  connection.send(next);
  const [, second] = await connection.answers(2);
  connection.socket.destroy();
  return [first?.status, second?.status];
}

describe('a body that nobody reads', () => {
  it.each(cases)('leaves the connection to the next request: %s %s %i', async (...request) => {
    expect(await sendTwo(request)).toEqual([request[2], 200]);
  });

  it.each(withKey)('leaves it after another refusal of a known caller: %s %s %i', async (...request) => {
    expect(await sendTwo(request, people.service.adminKey)).toEqual([request[2], 200]);
  });

  it('is not awaited if the caller waits for 100-continue: the connection closes', async () => {
    for (const request of cases.filter(([, path, status]) => status !== 413 && !path.startsWith('/v1/')).slice(1)) {
      const connection = openConnection(people.service.url);
      connection.send(headOf(request, { 'content-length': String(large), expect: '100-continue' }));
      const [answer] = await connection.answers(1);
      expect([request, answer?.status, answer?.headers['connection']]).toEqual([request, request[2], 'close']);
      await connection.closed;
    }
  });

  it.each([
    ['POST', '/oidc/back-channel-logout', 415],
    ['POST', '/nowhere', 404],
    ['POST', '/api/v1/prompts', 401],
    ['POST', '/mcp', 401],
    ['GET', '/docs', 200],
    ['GET', '/health/live', 200],
  ] satisfies Case[])('has an end: the connection closes after the answer to %s %s', async (...request) => {
    const connection = openConnection(people.service.url);
    connection.send(headOf(request, { 'transfer-encoding': 'chunked' }));
    const sending = setInterval(() => {
      if (connection.socket.writableNeedDrain) return;
      connection.send(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
    }, 10);
    const [answer] = await connection.answers(1);
    expect([answer?.status, answer?.headers['connection']]).toEqual([request[2], 'close']);
    await connection.closed;
    clearInterval(sending);
  });

  it('is a form that a caller sends after 100-continue', async () => {
    const connection = openConnection(people.service.url);
    const fields = { 'content-length': '9', expect: '100-continue' };
    connection.send(headOf(['POST', '/oidc/back-channel-logout', 400, { 'content-type': form }], fields));
    await once(connection.socket, 'data');
    connection.send('logout=no');
    const answers = await connection.answers(2);
    expect(answers.map(({ status }) => status)).toEqual([100, 400]);
    connection.socket.destroy();
  });
});
