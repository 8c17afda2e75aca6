import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createDataFolder } from '../faults/data-folder.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { adminKey, createPrompt, send, setUpProcesses, until } from './operation-harness.ts';

const processes = setUpProcesses();
const received = (count: number): Promise<void> => until(() => processes.mock.requests.length >= count);
const slow = { model: 'mock-slow-1500' };

describe('SIGTERM', () => {
  it('lets an invocation under way finish, refuses new connections, and ends with exit code 0', async () => {
    const service = await processes.start();
    const prompt = await createPrompt(service);
    const answer = send(service, 'POST', `${prompt}/invoke`, slow);
    await received(1);
    service.signal('SIGTERM');
    await until(() => service.messages.some((line) => line.startsWith('SIGTERM: finishing')));
    const connection = connect(Number(new URL(service.url).port), '127.0.0.1');
    await expect(once(connection, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const { status, body } = await answer.then(async (got) => ({ status: got.status, body: await got.json() }));
    expect([status, body]).toEqual([200, expect.objectContaining({ text: expect.stringContaining('Hello') })]);
    expect(await service.exited).toEqual({ code: 0, signal: null });
  });

  it('tells clients that keep asking on their connections, and resets none of them', async () => {
    const service = await processes.start({ SHUTDOWN_GRACE_MS: '2000' });
    const prompt = await createPrompt(service);
    let count = 0;
    const clients = Array.from({ length: 50 }, () =>
      askUntilClosed(service.url, prompt, () => {
        count += 1;
      }),
    );
    await until(() => count > 200);
    service.signal('SIGTERM');
    expect(await Promise.all(clients)).toEqual(clients.map(() => 'told to close'));
    expect(await service.exited).toEqual({ code: 0, signal: null });
  });

  it('lets work finish whose caller has left but may ask for the answer again', async () => {
    const service = await processes.start();
    const prompt = await createPrompt(service);
    const leave = new AbortController();
    const headers = { 'content-type': 'application/json', 'x-api-key': adminKey, 'idempotency-key': 'left' };
    const body = JSON.stringify(slow);
    const { signal } = leave;
    const left = fetch(`${service.url}${prompt}/invoke`, { method: 'POST', headers, body, signal }).catch(() => 'left');
    await received(1);
    leave.abort();
    expect(await left).toBe('left');
    expect((await service.stop()).code).toBe(0);

    const next = await processes.start();
    const again = await send(next, 'POST', `${prompt}/invoke`, slow, { 'idempotency-key': 'left' });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(processes.mock.requests).toHaveLength(1);
  });

  it('lets a test run finish that nobody waits for', async () => {
    const service = await processes.start();
    const prompt = await createPrompt(service);
    const targets = { providers: [{ provider: 'mock', model: slow.model }] };
    const started = await send(service, 'POST', `${prompt}/test`, targets, { prefer: 'respond-async' });
    const { id } = (await started.json()) as { id: string };
    expect((await service.stop()).code).toBe(0);
    const run = await send(await processes.start(), 'GET', `/api/v1/test-runs/${id}`);
    expect(await run.json()).toMatchObject({ status: 'done' });
  });

  it('cuts off what takes longer than SHUTDOWN_TIMEOUT_MS; a test run then reads interrupted', async () => {
    const service = await processes.start({ SHUTDOWN_TIMEOUT_MS: '300' });
    const prompt = await createPrompt(service);
    const targets = { providers: [{ provider: 'mock', model: 'mock-hang' }] };
    const started = await send(service, 'POST', `${prompt}/test`, targets, { prefer: 'respond-async' });
    const { id } = (await started.json()) as { id: string };
    const cut = send(service, 'POST', `${prompt}/invoke`, { model: 'mock-hang' }).catch(() => 'cut');
    await received(2);
    const before = performance.now();
    expect((await service.stop()).code).toBe(0);
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(await cut).toBe('cut');
    const run = await send(await processes.start(), 'GET', `/api/v1/test-runs/${id}`);
    expect(await run.json()).toMatchObject({ status: 'interrupted' });
  });

  it('a second time ends the process at once', async () => {
    const service = await processes.start();
    const cut = send(service, 'POST', `${await createPrompt(service)}/invoke`, slow).catch(() => 'cut');
    await received(1);
    service.signal('SIGTERM');
    await until(() => service.messages.some((line) => line.startsWith('SIGTERM: finishing')));
    service.signal('SIGTERM');
    expect((await service.exited).code).toBe(1);
    expect(await cut).toBe('cut');
  });

  it('stops the embedded database, too; kill -9 leaves it, and the next start finds it', async () => {
    const folder = await createDataFolder('secantusd-py');
    const environment = { PORT: '0', DATA_DIR: folder.path, ADMIN_API_KEY: adminKey };
    const first = await startServiceProcess(environment);
    const prompt = await createPrompt(first, { selected_provider: 'echo' });
    const database = await folder.databasePid();
    await first.kill();
    expect(isRunning(database)).toBe(true);

    const second = await startServiceProcess(environment);
    expect(await folder.databasePid()).toBe(database);
    expect((await send(second, 'GET', prompt)).status).toBe(200);
    expect((await second.stop()).code).toBe(0);
    expect(isRunning(database)).toBe(false);
    await folder.remove();
  }, 60_000);
});

/** One client with one connection, and a pause after each answer. @returns how the connection ended */
async function askUntilClosed(url: string, path: string, onAnswer: () => void): Promise<string> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    for (;;) {
      const request = get(`${url}${path}`, { agent, headers: { 'x-api-key': adminKey } });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      await response.resume().forEach(() => undefined);
      onAnswer();
      if (response.headers.connection === 'close') return 'told to close';
      await sleep(15);
    }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    agent.destroy();
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
