import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { problemOf, startInvokeHarness, type InvokeHarness } from '../prompts/invoke/invoke-harness.ts';
import { startObjectStorage, type ObjectStorage } from '../support/object-storage.ts';
import { createHealthStore } from '../../src/webhooks/lanes/health-store.ts';
import { openDatabaseOf } from '../support/per-operation.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const path = '/api/v1/attention';
let harness: InvokeHarness;
let receiver: Receiver;
beforeAll(async () => {
  harness = await startInvokeHarness({
    statisticsEveryMs: 20,
    environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
  });
  receiver = await startReceiver();
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

interface Item {
  kind: string;
  id: string;
  name: string;
  status: string;
  since: string;
  count?: number;
  of?: number;
  invocations?: Record<string, string>;
}
interface Attention {
  kinds: string[];
  data: Item[];
}

async function attention(key = harness.service.adminKey): Promise<Attention> {
  const { status, body } = await harness.service.call('GET', path, { key });
  expect(status).toBe(200);
  return body as Attention;
}

/** Waits until there is a line about it that is as expected. */
async function lineOf(id: string, expected: object): Promise<Item | undefined> {
  const { count, of } = expected as { count: number; of?: number };
  const found = await until(
    async () => (await attention()).data.find((item) => item.id === id),
    // Log and statistics are not written at the same time.
    (item) => item?.count === count && (of === undefined || item.of === of),
  );
  expect(found).toMatchObject(expected);
  return found;
}

/** How many invocations a line leads to. */
async function listed({ invocations }: Item): Promise<number> {
  const query = new URLSearchParams(invocations).toString();
  const { body } = await harness.service.call('GET', `/api/v1/invocations?${query}`);
  return (body as { pagination: { total: number } }).pagination.total;
}

async function integrationTo(to: string): Promise<string> {
  const body = { name: to, url: `${receiver.url}${to}`, event_types: ['ORDER_PLACED'], unsigned: true };
  const { status, body: made } = await harness.service.call('POST', '/api/v1/integrations', { body });
  expect(status).toBe(201);
  const { id } = made as { id: string };
  expect((await harness.service.call('POST', `/api/v1/integrations/${id}/test`)).status).toBe(202);
  return id;
}

async function startWithBucket(): Promise<{ bucket: ObjectStorage; service: TestService }> {
  const bucket = await startObjectStorage();
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, ...environment } = bucket.environment;
  Object.assign(process.env, { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY });
  return { bucket, service: await startTestService({ environment }) };
}

describe('200', () => {
  it('is empty while everything works', async () => {
    const slug = await harness.createPrompt();
    await harness.invoke(slug);
    expect(await attention()).toEqual({
      kinds: ['provider', 'budget', 'storage', 'identity-provider', 'prompt', 'canary', 'integration'],
      data: [],
    });
  });

  it('has a provider that refuses, why, a link to its calls, and the prompts that fail because of it', async () => {
    const fallbacks = [{ provider: 'spare' }];
    const saved = await harness.createPrompt({ selected_model: 'mock-401', fallbacks });
    const failing = await harness.createPrompt({ selected_model: 'mock-401' });
    for (const slug of [saved, failing, failing]) await harness.invoke(slug);
    const line = await lineOf('mock', {
      ...{ kind: 'provider', name: 'mock', status: 'failing', count: 3, provider_status: 401 },
      problem: 'urn:prompt-gateway:problem:provider-refused-credentials',
      detail: expect.stringContaining('does not accept the configured credentials'),
    });
    expect(line?.invocations).toEqual({ attempt_provider: 'mock', since: line?.since, until: expect.any(String) });
    expect(line && (await listed(line))).toBe(3);
    const { data } = await attention();
    expect(data.map(({ kind }) => kind)).toEqual(['provider', 'prompt']);
    expect(data[1]).toMatchObject({ name: failing, count: 2, of: 2, caused_by: { kind: 'provider', id: 'mock' } });

    await harness.invoke(failing, { model: 'model-a' });
    await until(
      async () => (await attention()).data,
      (data) => data.every(({ kind }) => kind !== 'provider'),
    );
  });

  it('has a version of a prompt that fails, of how many, and its last reason', async () => {
    const messages = [{ role: 'user', content: 'Hello {{name}}' }];
    const slug = await harness.createPrompt({ messages });
    const { body } = await harness.service.call('GET', `/api/v1/prompts/${slug}`);
    const { id } = body as { id: string };
    await harness.invoke(slug, { variables: { name: 'Ada' } });
    for (const model of ['mock-400', 'mock-400']) await harness.invoke(slug, { model, variables: { name: 'Ada' } });
    const line = await lineOf(id, {
      ...{ kind: 'prompt', name: slug, status: 'failing', version: 1, count: 2, of: 3, provider_status: 400 },
      problem: 'urn:prompt-gateway:problem:provider-failed',
      provider_message: expect.any(String),
    });
    expect(line).not.toHaveProperty('caused_by');
    expect(line && (await listed(line))).toBe(2);
    // A tenth is not reached any more.
    for (let count = 0; count < 18; count += 1) await harness.invoke(slug, { variables: { name: 'Ada' } });
    await until(
      async () => (await attention()).data,
      (data) => data.every((item) => item.id !== id),
    );
  });

  it('has a budget that refuses', async () => {
    const rates = [{ input: '1', output: '1' }];
    await harness.service.call('PUT', '/api/v1/prices/mock/model-a', { body: { rates } });
    const slug = await harness.createPrompt();
    const { body } = await harness.service.call('GET', `/api/v1/prompts/${slug}`);
    await harness.service.call('PUT', '/api/v1/budgets/tight', {
      body: {
        scope: { prompt_id: (body as { id: string }).id },
        limit: { amount: '0.000001', currency: 'USD' },
        period: 'month',
      },
    });
    const parameters = { max_output_tokens: 100 };
    for (let count = 0; count < 2; count += 1) {
      expect(problemOf(await harness.invoke(slug, { parameters }))).toBe('budget-exceeded');
    }
    const line = await lineOf('tight', { kind: 'budget', name: 'tight', status: 'refusing', count: 2 });
    expect(line?.invocations).toEqual({ refused_by: 'tight', since: line?.since, until: expect.any(String) });
    const prompt = (await attention()).data.find(({ name }) => name === slug);
    expect(prompt).toMatchObject({ kind: 'prompt', count: 2, caused_by: { kind: 'budget', id: 'tight' } });
    expect(line && (await listed(line))).toBe(2);
  });

  it('has integrations whose receivers fail, and those that are disabled', async () => {
    receiver.always(({ path: at }) => ({ kind: 'answer', status: at.endsWith('gone') ? 410 : 500 }));
    const failing = await integrationTo('/failing');
    const gone = await integrationTo('/gone');
    const line = await lineOf(failing, { kind: 'integration', name: '/failing', status: 'failing', count: 1 });
    expect(line).toMatchObject({ last_error: { status_code: 500 } });
    expect(line).not.toHaveProperty('invocations');
    const found = await until(
      async () => (await attention()).data.find(({ id }) => id === gone),
      (item) => item?.status === 'disabled',
    );
    expect(found).toMatchObject({ kind: 'integration', disabled_reason: 'gone' });

    // Nobody has to act for those that are paused, however many they are and however often they failed before.
    const paused = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const body = { name: 'Paused', url: receiver.url, event_types: ['ORDER_PLACED'], unsigned: true };
        const { id } = (await harness.service.call('POST', '/api/v1/integrations', { body })).body as { id: string };
        expect((await harness.service.call('POST', `/api/v1/integrations/${id}/pause`)).status).toBe(200);
        return id;
      }),
    );
    const database = await openDatabaseOf(harness.service);
    const at = new Date();
    const health = { settingsRevision: 2, failingSince: at, warnedAt: undefined, failuresInARow: 500, open: undefined };
    await createHealthStore(database).save(
      paused.map((integrationId) => ({
        integrationId,
        health: { ...health, lastFailure: { at, status: 500, error: undefined } },
        activity: { lastAttemptAt: at, lastSuccessAt: undefined },
      })),
    );
    await database.close();
    const ids = (await attention()).data.map(({ id }) => id);
    expect([ids.includes(failing), ids.filter((id) => paused.includes(id))]).toEqual([true, []]);
  });

  it('has the object storage while it does not work, since when, and what to do', async () => {
    const { bucket, service } = await startWithBucket();
    const found = async (): Promise<Attention> =>
      (await service.call('GET', path, { key: await service.createKey('metrics:read') })).body as Attention;
    expect(await found()).toEqual({ kinds: ['storage', 'identity-provider'], data: [] });
    await bucket.stop();
    const line = { kind: 'storage', id: 'storage', name: 'Object storage', status: 'failing' };
    const { data } = await found();
    expect(data).toEqual([
      { ...line, since: expect.any(String), detail: expect.stringMatching(/cannot be reached .* Check S3_ENDPOINT/) },
    ]);
    // It has failed since then, however often one asks.
    expect((await found()).data[0]?.since).toBe(data[0]?.since);
    await bucket.restart();
    expect((await found()).data).toEqual([]);
    await service.close();
    await bucket.stop();
  });

  it.each([
    ['prompts:read', ['provider', 'canary']],
    ['invocations:read', ['prompt']],
    ['integrations:read', ['integration']],
    ['metrics:read', ['storage', 'identity-provider']],
    ['orders:read', []],
  ] as const)('shows a key with the scope %s only what that reads', async (scope, kinds) => {
    const found = await attention(await harness.service.createKey(scope));
    expect(found.kinds).toEqual(kinds);
    expect(found.data.every(({ kind }) => (kinds as readonly string[]).includes(kind))).toBe(true);
  });

  it('does not count invocations for a key that may not read them', async () => {
    const { data } = await attention(await harness.service.createKey('budgets:read'));
    expect(data).toEqual([
      { kind: 'budget', id: 'tight', name: 'tight', status: 'refusing', since: expect.any(String) },
    ]);
  });
});

it.each([['prompts'], ['models']])('403 beyond-limits: a key that is limited to some %s', async (limit) => {
  const { body } = await harness.service.call('GET', '/api/v1/prompts');
  const [{ id } = { id: '' }] = (body as { data: { id: string }[] }).data;
  const limits = limit === 'prompts' ? { prompts: [id] } : { models: ['mock/*'] };
  const made = await harness.service.call('POST', '/api/v1/api-keys', {
    body: { name: 'Limited', scopes: ['prompts:read'], limits },
  });
  const answer = await harness.service.call('GET', path, { key: (made.body as { key: string }).key });
  expect([answer.status, problemOf(answer)]).toEqual([403, 'beyond-limits']);
});
