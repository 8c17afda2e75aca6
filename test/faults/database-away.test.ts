import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { OperationId } from '../../generated/operations.ts';
import { startInvokeHarness, type InvokeHarness } from '../prompts/invoke/invoke-harness.ts';
import { testDatabaseUri } from '../support/database.ts';
import { createMovableClock } from '../support/clock.ts';
import { LossyProxy } from '../support/lossy-proxy.ts';
import { until } from '../support/until.ts';
import type { Answer, TestService } from '../support/service.ts';
import { callWith, cookieFor } from '../access/sessions/sessions-harness.ts';
import {
  callEveryOperation,
  environmentOfEveryOperation,
  sendTimed,
  type TimedAnswer,
} from '../support/every-operation.ts';

/** The operations that need no stored document once the caller is known. */
const independent: readonly OperationId[] = [
  'listProviders',
  // A call of echo costs nothing, so no journal has it.
  'testProvider',
  // Echo counts in this process, and nothing is kept of it.
  'countMessageTokens',
  // The list of tools. The problem of a tool is a result.
  'sendMcpMessage',
  // The key that the operator configured is not in a database.
  'getCurrentApiKey',
  // It ends no session, because the request has a key.
  'deleteSession',
  'listEventTypes',
  'listRoles',
  'getMetrics',
  'getServiceInfo',
  'getLiveness',
  'getOpenApiDocument',
  'getAsyncApiDocument',
  'getEventTypeSchema',
];
/** "Within seconds", in milliseconds: less than the 15 s after which the database driver gives up. */
const patience = 14_000;

const clock = createMovableClock();
let proxy: LossyProxy;
let harness: InvokeHarness;
let service: TestService;
beforeAll(async () => {
  proxy = await LossyProxy.start(testDatabaseUri());
  harness = await startInvokeHarness({
    environment: { ...environmentOfEveryOperation, MONGODB_URI: proxy.uri },
    clock,
  });
  service = harness.service;
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
  await proxy.stop();
});

/** Sends a call of every operation. */
type Send = () => Promise<TimedAnswer[]>;

/** Creates what the calls are about. When they succeed, they use up some of it. */
async function prepareCalls(): Promise<Send> {
  const calls = await callEveryOperation(service);
  return () => sendTimed(service, calls);
}

/**
 * Sends every operation, and at the same time a page signs out: without a key, this needs the database.
 *
 * @param cookie of a session that was just begun
 */
async function expectOnlyIndependentOnesToWork(
  send: Send,
  cookie: string,
  expected = 'database-unavailable',
): Promise<void> {
  const [answers, signOut] = await Promise.all([send(), callWith(service, cookie, 'DELETE', '/api/v1/session')]);
  expectOnlyIndependentOnes(answers, expected);
  expect([signOut.status, signOut.body.type]).toEqual([503, `urn:prompt-gateway:problem:${expected}`]);
}

function expectOnlyIndependentOnes(answers: readonly TimedAnswer[], expected = 'database-unavailable'): void {
  for (const { operation, status, problem, headers, milliseconds } of answers) {
    if (independent.includes(operation)) {
      expect([operation, status]).toEqual([operation, 200]);
    } else {
      expect([operation, status, problem]).toEqual([operation, 503, expected]);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
    expect(milliseconds).toBeLessThan(patience);
  }
}

async function expectEverythingWorks(send: Send): Promise<void> {
  // What it answers can be a second old.
  await until(
    () => service.call('GET', '/health/ready'),
    ({ status }) => status === 200,
  );
  for (const { operation, status } of await send()) {
    // The check of the database has two seconds, and beside all others at once it can take longer.
    const isRight = status < 300 || (operation === 'getReadiness' && status === 503);
    expect([operation, isRight]).toEqual([operation, true]);
  }
  await until(
    () => service.call('GET', '/health/ready'),
    ({ status }) => status === 200,
  );
}

describe('a database whose disk is full', () => {
  afterEach(() => {
    proxy.endLosses();
  });

  it('makes every operation that needs it answer 503 storage-full', async () => {
    const commands = ['find', 'aggregate', 'count', 'insert', 'update', 'delete', 'findAndModify'];
    const key = await service.createKey('prompts:read', 'integrations:manage', 'metrics:read');
    const [send, cookie] = [await prepareCalls(), await cookieFor(service, service.adminKey)];
    void proxy.lose({ of: 'space', commands, times: Infinity });
    await expectOnlyIndependentOnesToWork(send, cookie, 'storage-full');
    // A new key is unknown without its record.
    for (const path of ['/api/v1/providers', '/api/v1/event-types', '/api/v1/roles', '/metrics', '/api/v1/whoami']) {
      const { status, body } = await service.call('GET', path, { key });
      expect([path, status, body.type]).toEqual([path, 503, 'urn:prompt-gateway:problem:storage-full']);
    }
    proxy.endLosses();
    expect((await service.call('GET', '/api/v1/prompts')).status).toBe(200);
  });
});

describe('a database that has stopped', () => {
  afterEach(() => proxy.restart().catch(() => undefined));

  it('makes every operation that needs it answer 503 within seconds, and is used again when it is back', async () => {
    const [send, cookie] = [await prepareCalls(), await cookieFor(service, service.adminKey)];
    await proxy.stop();
    await expectOnlyIndependentOnesToWork(send, cookie);
    await proxy.restart();
    await expectEverythingWorks(send);
  });

  it('refuses keys that were verified more than five seconds ago', async () => {
    const key = await service.createKey('prompts:read', 'integrations:manage', 'metrics:read');
    const statuses = async (): Promise<number[]> => {
      const paths = ['/api/v1/providers', '/api/v1/event-types', '/api/v1/roles', '/metrics'];
      const answers = await Promise.all(paths.map((path) => service.call('GET', path, { key })));
      return answers.map(({ status }) => status);
    };
    clock.hold();
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    await proxy.stop();
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    // A stored key needs its record.
    expect((await service.call('GET', '/api/v1/whoami', { key })).status).toBe(503);
    clock.advance(5_000);
    clock.release();
    expect(await statuses()).toEqual([503, 503, 503, 503]);
    await proxy.restart();
    expect(await statuses()).toEqual([200, 200, 200, 200]);
  });

  it('does not delay the answer of a paid call, and does not repeat the call', async () => {
    const prompt = await harness.createPrompt();
    const invoke = (): Promise<Answer> =>
      harness.invoke(prompt, { model: 'mock-held' }, { 'Idempotency-Key': 'outage' });
    const answer = invoke();
    await harness.received(1);
    await proxy.stop();
    harness.mock.release();
    // The answer arrives while the database is unavailable.
    const first = await answer;
    expect(first.status).toBe(200);
    await proxy.restart();

    // The record is written when the database is back. Until then the key counts as in use.
    const repeat = await untilNot(409, invoke);
    expect([repeat.status, repeat.text]).toEqual([200, first.text]);
    expect(repeat.headers['idempotency-replayed']).toBe('true');
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('releases a key for the next attempt soon after it is back', async () => {
    const body = { name: 'Cut short', slug: 'cut-short', messages: [{ role: 'user', content: 'Hello' }] };
    const create = (): Promise<Answer> =>
      service.call('POST', '/api/v1/prompts', { body, headers: { 'Idempotency-Key': 'cut-short' } });
    // The record of the key is written, and then the database stops.
    const lost = proxy.lose({ of: 'request', collection: 'prompts', commands: ['insert'] });
    const answer = create();
    await lost;
    await proxy.stop();
    expect((await answer).status).toBe(503);
    await proxy.restart();
    const repeat = await untilNot(409, create);
    expect([repeat.status, repeat.body.slug]).toEqual([201, 'cut-short']);
  });
});

describe('a database that hangs', () => {
  it('makes every operation that needs it answer 503 within seconds, and is used again when it continues', async () => {
    const send = await prepareCalls();
    proxy.pause();
    const answers = await send();
    proxy.resume();
    expectOnlyIndependentOnes(answers);
    await expectEverythingWorks(send);
  });
});

/** Repeats a request when the service asks for it. */
function untilNot(status: number, request: () => Promise<Answer>): Promise<Answer> {
  return until(request, (answer) => answer.status !== status);
}
