import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operationTable, type OperationId, type OperationRow } from '../../generated/operations.ts';
import { checkAnswer, type WireAnswer } from '../support/contract-check.ts';
import { problem, problemIn } from '../support/per-operation.ts';
import { recordAnswer } from '../support/recorded-answers.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ connectionLimits: { head: 1_000, request: 2_000, check: 100, answer: 60_000 } });
  // The first request loads modules. This must not take time from the tests.
  await service.call('GET', '/health/live');
});
afterAll(() => service.close());

const operations = Object.entries(operationTable) as [OperationId, OperationRow][];
const withBody = operations.filter(([, { body }]) => body !== 'none');

function open(): Socket {
  const { hostname, port } = new URL(service.url);
  return connect(Number(port), hostname);
}

/** Everything that arrives until the service closes the connection. */
async function receive(socket: Socket): Promise<WireAnswer> {
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
  await once(socket, 'close');
  const [head = '', text = ''] = received.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = lines
    .map((line) => /^([^:]+): (.*)$/.exec(line))
    .map((field) => [field?.[1] ?? '', field?.[2] ?? '']);
  return { status: Number(statusLine.split(' ')[1]), headers: Object.fromEntries(headers) as never, text };
}

function headOf({ method, path, lineLimit }: OperationRow): string {
  const mediaType = lineLimit === undefined ? 'application/json' : 'application/x-ndjson';
  const fields = ['Host: test', `Authorization: Bearer ${service.adminKey}`, `Content-Type: ${mediaType}`];
  return `${method} ${path.replaceAll(/\{\w+\}/g, 'x')} HTTP/1.1\r\n${fields.join('\r\n')}\r\nContent-Length: 100\r\n`;
}

describe('408', () => {
  const waiting = new Map<OperationId, Promise<WireAnswer>>();
  beforeAll(() => {
    for (const [operationId, row] of withBody) {
      const socket = open();
      socket.write(`${headOf(row)}\r\n{"name":`);
      waiting.set(operationId, receive(socket));
    }
  });

  it.each(withBody)('is the answer to a request of %s whose body does not arrive', async (operationId) => {
    const answer = await waiting.get(operationId);
    expect([answer?.status, problemIn(JSON.parse(answer?.text ?? ''))]).toEqual([408, problem('request-timeout')]);
    if (answer !== undefined) recordAnswer(operationId, answer);
    expect(answer && checkAnswer(operationId, answer)).toEqual([]);
  });

  it('is the answer to a request whose head does not arrive', async () => {
    const socket = open();
    socket.write('GET /health/live HTTP/1.1\r\nHost: te');
    const answer = await receive(socket);
    expect(answer.status).toBe(408);
    expect(JSON.parse(answer.text)).toMatchObject({ type: problem('request-timeout') });
  });

  it('is the answer to a slow body, while other callers are served', async () => {
    const socket = open();
    const trickle = setInterval(() => socket.write(' '), 50);
    socket
      .on('error', () => undefined)
      .on('close', () => {
        clearInterval(trickle);
      });
    socket.write(`${headOf(operationTable.createPrompt)}\r\n`);
    const answer = receive(socket);
    expect((await service.call('GET', '/health/live')).status).toBe(200);
    expect((await answer).status).toBe(408);
  });

  it('is not sent on an idle connection, which stays open', async () => {
    const socket = open();
    const request = 'GET /health/live HTTP/1.1\r\nHost: test\r\n\r\n';
    for (let round = 0; round < 2; round += 1) {
      socket.write(request);
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      expect(chunk.toString()).toMatch(/^HTTP\/1\.1 200 /);
      await sleep(2_500);
    }
    socket.destroy();
  });
});
