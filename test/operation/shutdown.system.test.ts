import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { hasCode } from '../../src/base/runtime/system-error.ts';
import { createDataFolder } from '../faults/data-folder.ts';
import { startServiceProcess, type ServiceProcess } from '../support/service-process.ts';
import { adminKey, send } from '../support/send.ts';
import { createPrompt, setUpProcesses } from './operation-harness.ts';
import { until } from '../support/until.ts';

const processes = setUpProcesses();
const received = (count: number): Promise<boolean> => until(() => processes.mock.requests.length >= count);
const held = { model: 'mock-held' };

/** Asks a service to stop, and waits until it does so. */
async function terminate(service: ServiceProcess): Promise<void> {
  service.signal('SIGTERM');
  await until(() => service.messages.some((line) => line.startsWith('SIGTERM: finishing')));
}

describe('SIGTERM', () => {
  it('finishes an invocation in progress, refuses new connections, and ends with exit code 0', async () => {
    const service = await processes.start();
    const prompt = await createPrompt(service);
    const answer = send(service, 'POST', `${prompt}/invoke`, held);
    await received(1);
    await terminate(service);
    // The message comes right before the listener closes.
    await until(async () => {
      const connection = connect(Number(new URL(service.url).port), '127.0.0.1');
      const failure = await once(connection, 'connect').catch((error: unknown) => error);
      connection.destroy();
      return hasCode(failure, 'ECONNREFUSED');
    });
    processes.mock.release();
    const { status, body } = await answer.then(async (got) => ({ status: got.status, body: await got.json() }));
    expect([status, body]).toEqual([200, expect.objectContaining({ text: expect.stringContaining('Hello') })]);
    expect(await service.exited).toEqual({ code: 0, signal: null });
  });

  it('announces the end of their connections to busy clients, and resets none', async () => {
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

  it('finishes work that the caller can request again, after the caller has left', async () => {
    const service = await processes.start();
    const prompt = await createPrompt(service);
    const leave = new AbortController();
    const headers = { 'content-type': 'application/json', 'x-api-key': adminKey, 'idempotency-key': 'left' };
    const body = JSON.stringify(held);
    const { signal } = leave;
    const left = fetch(`${service.url}${prompt}/invoke`, { method: 'POST', headers, body, signal }).catch(() => 'left');
    await received(1);
    leave.abort();
    expect(await left).toBe('left');
    await terminate(service);
    processes.mock.release();
    expect((await service.exited).code).toBe(0);

    const next = await processes.start();
    const again = await send(next, 'POST', `${prompt}/invoke`, held, { 'idempotency-key': 'left' });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(processes.mock.requests).toHaveLength(1);
  });

  it('finishes a test run without a waiting caller', async () => {
    const service = await processes.start();
    const prompt = await createPrompt(service);
    const targets = { providers: [{ provider: 'mock', model: held.model }] };
    const started = await send(service, 'POST', `${prompt}/test`, targets, { prefer: 'respond-async' });
    const { id } = (await started.json()) as { id: string };
    await received(1);
    await terminate(service);
    processes.mock.release();
    expect((await service.exited).code).toBe(0);
    const run = await send(await processes.start(), 'GET', `/api/v1/test-runs/${id}`);
    expect(await run.json()).toMatchObject({ status: 'done' });
  });

  it('ends work that takes longer than SHUTDOWN_TIMEOUT_MS; a test run is then interrupted', async () => {
    const service = await processes.start({ SHUTDOWN_TIMEOUT_MS: '300' });
    const prompt = await createPrompt(service);
    const targets = { providers: [{ provider: 'mock', model: 'mock-hang' }] };
    const started = await send(service, 'POST', `${prompt}/test`, targets, { prefer: 'respond-async' });
    const { id } = (await started.json()) as { id: string };
    const ended = send(service, 'POST', `${prompt}/invoke`, { model: 'mock-hang' });
    await received(2);
    expect((await service.stop()).code).toBe(0);
    expect((await ended).status).toBe(503);
    const run = await send(await processes.start(), 'GET', `/api/v1/test-runs/${id}`);
    expect(await run.json()).toMatchObject({ status: 'interrupted' });
  });

  it.each([
    ['an invocation', { model: 'mock-hang' }, {}],
    ['an invocation with an Idempotency-Key', { model: 'mock-hang' }, { 'idempotency-key': 'interrupted' }],
    ['a stream before its first event', { model: 'mock-hang', stream: true }, {}],
  ])('answers %s with a problem at the end of SHUTDOWN_TIMEOUT_MS, and has its record at once', async (...row) => {
    const [, body, headers] = row;
    const service = await processes.start({ SHUTDOWN_TIMEOUT_MS: '1000' });
    const prompt = await createPrompt(service);
    const answering = send(service, 'POST', `${prompt}/invoke`, body, headers);
    await received(1);
    await terminate(service);
    const answer = await answering;
    const call = { provider: 'mock', model: 'mock-hang', may_be_billed: true };
    expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('x-should-retry')]).toEqual([
      ...[503, '5', 'false'],
    ]);
    expect(await answer.json()).toMatchObject({
      type: 'urn:prompt-gateway:problem:interrupted',
      ...(!('stream' in body) && { attempts: [call] }),
    });
    expect((await service.exited).code).toBe(0);
    // No other process has taken it over: its journal is not yet taken for dead.
    const id = answer.headers.get('x-invocation-id') ?? '';
    const record = await send(await processes.start(), 'GET', `/api/v1/invocations/${id}`);
    expect([record.status, await record.json()]).toMatchObject([
      200,
      {
        status: 'failed',
        problem: 'urn:prompt-gateway:problem:interrupted',
        attempts: [{ provider: 'mock', status: 'canceled', usage_source: expect.stringMatching(/ceiling|estimated/) }],
      },
    ]);
  });

  it('answers who waits for a test run with the problem, which does not say that nothing was changed', async () => {
    const service = await processes.start({ SHUTDOWN_TIMEOUT_MS: '1000' });
    const prompt = await createPrompt(service);
    const answering = send(service, 'POST', `${prompt}/test`, {
      providers: [{ provider: 'mock', model: 'mock-hang' }],
    });
    await received(1);
    await terminate(service);
    const answer = await answering;
    expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('x-should-retry')]).toEqual([
      ...[503, '5', 'false'],
    ]);
    expect(await answer.json()).toMatchObject({ type: 'urn:prompt-gateway:problem:interrupted' });
    expect((await service.exited).code).toBe(0);
  });

  it.each([
    // In the first second it is taken for the same signal.
    ['the signal is sent again after a second', 'SIGTERM'],
    ['another signal is sent after a second', 'SIGINT'],
  ] as const)('ends the process immediately when %s', async (_title, second) => {
    const service = await processes.start();
    const cut = send(service, 'POST', `${await createPrompt(service)}/invoke`, held).catch(() => 'cut');
    await received(1);
    await terminate(service);
    const again = setInterval(() => {
      service.signal(second);
    }, 100);
    const { code } = await service.exited;
    clearInterval(again);
    expect(code).toBe(1);
    expect(await cut).toBe('cut');
  });

  it('finishes the requests in progress when SIGHUP follows at once', async () => {
    const service = await processes.start();
    const answer = send(service, 'POST', `${await createPrompt(service)}/invoke`, held);
    await received(1);
    await terminate(service);
    service.signal('SIGHUP');
    processes.mock.release();
    expect((await answer).status).toBe(200);
    expect((await service.exited).code).toBe(0);
  });

  it('is obeyed as SIGHUP too, which a closed terminal sends', async () => {
    const service = await processes.start();
    service.signal('SIGHUP');
    expect(await service.exited).toEqual({ code: 0, signal: null });
  });

  it('also stops the embedded database, as kill -9 does', async () => {
    const folder = await createDataFolder('secantusd-py');
    const environment = { PORT: '0', DATA_DIR: folder.path, ADMIN_API_KEY: adminKey };
    const first = await startServiceProcess(environment);
    const prompt = await createPrompt(first, { selected_provider: 'echo' });
    const database = await folder.databasePid();
    await first.kill();
    await until(() => !isRunning(database));

    const second = await startServiceProcess(environment);
    const next = await folder.databasePid();
    expect((await send(second, 'GET', prompt)).status).toBe(200);
    expect((await second.stop()).code).toBe(0);
    expect(isRunning(next)).toBe(false);
    await folder.remove();
  });
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

describe('SIGKILL', () => {
  it('breaks the streams of a process', async () => {
    const service = await processes.start();
    const response = await send(service, 'POST', `${await createPrompt(service)}/invoke`, {
      stream: true,
      model: 'mock-stall',
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('event: text')) text += (await reader?.read())?.value ?? '';
    await service.kill();
    const rest = async (): Promise<void> => {
      while (!(await reader?.read())?.done);
    };
    await expect(rest()).rejects.toThrow('terminated');
    expect(text).not.toContain('event: finish');
    await processes.mock.requests[0]?.ended;
  });
});
