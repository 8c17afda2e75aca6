import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sendBody } from '../../src/http/answer-stream.ts';
import { createHttpServer } from '../../src/http/listener.ts';
import { listen } from '../../src/http/listening.ts';
import { startMockProvider, type MockProvider } from '../support/mock-provider.ts';
import { openConnection, type RawConnection } from '../support/raw-connection.ts';
import { startTestService, type TestService } from '../support/service.ts';

const limits = { head: 20_000, request: 60_000, check: 5_000, answer: 1_000 };
let mock: MockProvider;
let service: TestService;
let prompt: string;
beforeAll(async () => {
  mock = await startMockProvider();
  const providers = [{ id: 'mock', base_url: mock.url, api_key: 'k', models: ['mock-slow-1500'] }];
  service = await startTestService({
    connectionLimits: limits,
    environment: { OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify(providers) },
  });
  const body = { name: 'Large', messages: [{ role: 'user', content: 'x'.repeat(1_000_000) }] };
  const { body: made } = await service.call('POST', '/api/v1/prompts', { body });
  prompt = `/api/v1/prompts/${(made as { id: string }).id}`;
});
afterAll(async () => {
  await service.close();
  await mock.close();
});

function ask(count: number): RawConnection {
  const connection = openConnection(service.url);
  const head = `GET ${prompt} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.adminKey}\r\n\r\n`;
  connection.send(head.repeat(count));
  return connection;
}

describe('a connection', () => {
  it.each([
    ['keeps silent', false],
    ['goes on sending', true],
  ])('is cut when the client takes nothing of an answer any more and %s', async (_name, sends) => {
    // More than the operating system keeps for the two sockets.
    const connection = ask(30);
    connection.socket.pause();
    const sending = setInterval(() => {
      if (sends) connection.send('GET / HTTP/1.1\r\n');
    }, 50);
    await sleep(2.5 * limits.answer);
    clearInterval(sending);
    connection.socket.resume();
    expect((await connection.rest()).match(/HTTP\/1\.1 200/g)?.length ?? 0).toBeLessThan(30);
  });

  it('stays open while the client reads slowly for longer than the limit', async () => {
    const answer = Buffer.alloc(80 * 1024 * 1024, 'x');
    // This process reads, too: on a busy machine it can pause for more than a second.
    const patient = { ...limits, answer: 3_000 };
    const { server } = createHttpServer((_request, response) => {
      sendBody(response.writeHead(200, { 'content-length': answer.length }), answer);
    }, patient);
    const { hostname, port } = new URL(await listen(server, '127.0.0.1', 0));
    const socket = connect(Number(port), hostname);
    const started = performance.now();
    let taken = 0;
    socket.on('data', (chunk: Buffer) => {
      taken += chunk.length;
      // 12 MiB a second, and the last 5 MiB at once.
      if (taken < 75 * 1024 * 1024 && taken > (performance.now() - started) * 12 * 1024) {
        socket.pause();
        setTimeout(() => socket.resume(), 20);
      }
      if (taken > answer.length) socket.destroy();
    });
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'close');
    server.close();
    expect(taken).toBeGreaterThan(answer.length);
    expect(performance.now() - started).toBeGreaterThan(2 * patient.answer);
  });

  it('stays open while the work on its request takes longer than the limit', async () => {
    const answer = await service.call('POST', `${prompt}/invoke`, {
      body: { provider: 'mock', model: 'mock-slow-1500' },
    });
    expect(answer.status).toBe(200);
  });

  it('is closed after a refusal even if the client keeps its side open', async () => {
    const connection = openConnection(service.url);
    connection.send('rubbish\r\n\r\n');
    await connection.answers(1);
    const started = performance.now();
    while (!connection.socket.destroyed && performance.now() - started < 8_000) {
      connection.send('more ');
      await sleep(50);
    }
    expect(connection.socket.destroyed).toBe(true);
  });
});
