import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from '../../support/service.ts';
import { startAnother } from '../../support/per-operation.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from './invoke-harness.ts';

let harness: InvokeHarness;
beforeAll(async () => {
  harness = await startInvokeHarness();
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(() => harness.close());

const pathOf = (provider: string): string => `/api/v1/providers/${provider}/test`;
const test = (provider: string, body?: object, key = harness.service.adminKey): Promise<Answer> =>
  harness.service.call('POST', pathOf(provider), { ...(body && { body }), key });

async function keyWith(fields: Record<string, unknown>): Promise<string> {
  const body = { name: 'Limited', scopes: ['providers:invoke'], ...fields };
  const answer = await harness.service.call('POST', '/api/v1/api-keys', { body });
  expect(answer.status).toBe(201);
  return answer.body.key as string;
}

describe('200', () => {
  it('asks the default model, within few tokens, and is in the invocation log', async () => {
    const { status, body, headers } = await test('mock');
    expect(status).toBe(200);
    expect(body).toEqual({
      ...{ invocation_id: headers['x-invocation-id'], model: 'model-a', text: 'Hello from model-a.' },
      ...{ latency_ms: expect.any(Number), usage: expect.any(Object), cost: null },
    });
    expect(harness.mock.requests.map(({ body: sent }) => sent)).toMatchObject([
      { model: 'model-a', messages: [{ role: 'user', content: 'Reply with OK.' }], max_tokens: 256 },
    ]);
    const { body: record } = await harness.service.call('GET', `/api/v1/invocations/${headers['x-invocation-id']}`);
    expect(record).toMatchObject({ operation: 'provider-test', status: 'succeeded', provider: 'mock' });
  });

  it('asks another model', async () => {
    expect((await test('mock', { model: 'model-b' })).body).toMatchObject({ text: 'Hello from model-b.' });
  });

  it('is free for echo', async () => {
    const { body } = await test('echo');
    expect(body).toMatchObject({ text: 'Reply with OK.', cost: { amount: '0', currency: 'USD' } });
  });

  it('asks the first model that the key may use', async () => {
    const key = await keyWith({ limits: { models: ['mock/model-b'] } });
    expect((await test('mock', undefined, key)).body).toMatchObject({ model: 'model-b' });
  });
});

it.each([
  ['cost-unknown', '1'],
  ['budget-exceeded', '0.000001'],
])('402 %s', async (problem, amount) => {
  const key = await keyWith({ limits: { tags: { team: problem } } });
  const scope = { tag: `team=${problem}` };
  const budget = `/api/v1/budgets/${problem}`;
  await harness.service.call('PUT', budget, {
    body: { scope, limit: { amount, currency: 'USD' }, period: 'month' },
  });
  if (problem === 'budget-exceeded') {
    const rates = [{ input: '1', output: '1' }];
    await harness.service.call('PUT', '/api/v1/prices/mock/model-a', { body: { rates } });
  }
  const answer = await test('mock', undefined, key);
  expect([answer.status, problemOf(answer)]).toEqual([402, problem]);
  expect(harness.mock.requests).toEqual([]);
});

describe('403', () => {
  it('insufficient-scope: needs `providers:invoke`', async () => {
    const key = await keyWith({ scopes: ['prompts:invoke', 'prompts:read'] });
    const answer = await test('mock', undefined, key);
    expect([answer.status, problemOf(answer)]).toEqual([403, 'insufficient-scope']);
  });

  it('beyond-limits: a model that the key may not use', async () => {
    const key = await keyWith({ limits: { models: ['mock/model-b'] } });
    const answer = await test('mock', { model: 'model-a' }, key);
    expect([answer.status, problemOf(answer)]).toEqual([403, 'beyond-limits']);
  });
});

describe('404', () => {
  it('provider-not-found', async () => {
    const answer = await test('opnai');
    expect([answer.status, problemOf(answer)]).toEqual([404, 'provider-not-found']);
  });

  it('provider-not-found: the key may use none of its models', async () => {
    const key = await keyWith({ limits: { models: ['spare/*'] } });
    const answer = await test('mock', undefined, key);
    expect([answer.status, problemOf(answer)]).toEqual([404, 'provider-not-found']);
  });

  it('provider-not-found: the key may use only its models of embeddings, as in the list of providers', async () => {
    const limits = { models: ['echo/echo-embed'] };
    const key = await keyWith({ scopes: ['providers:invoke', 'prompts:read'], limits });
    const answer = await test('echo', undefined, key);
    expect([answer.status, problemOf(answer)]).toEqual([404, 'provider-not-found']);
    expect((await harness.service.call('GET', '/api/v1/providers', { key })).body).toEqual([]);
  });
});

it('422 provider-not-configured', async () => {
  const answer = await test('openai');
  expect([answer.status, problemOf(answer)]).toEqual([422, 'provider-not-configured']);
});

describe('502', () => {
  it.each([
    ['mock-401', 'provider-refused-credentials', 401],
    ['mock-429', 'provider-rate-limited', 429],
    ['mock-404', 'provider-failed', 404],
    ['mock-garbage', 'provider-bad-answer', 200],
  ])('%s', async (model, problem, provider_status) => {
    const answer = await test('mock', { model });
    expect([answer.status, problemOf(answer)]).toEqual([502, problem]);
    expect(answer.body).toMatchObject({ provider: 'mock', model, provider_status });
  });

  it('provider-timeout', async () => {
    const OPENAI_COMPATIBLE_PROVIDERS = JSON.stringify([
      { id: 'mock', base_url: harness.mock.url, models: ['mock-hang'] },
    ]);
    const environment = { INVOKE_TIMEOUT_MS: '500', OPENAI_COMPATIBLE_PROVIDERS };
    const other = await startAnother(harness.service, environment);
    const answer = await other.call('POST', pathOf('mock'));
    expect([answer.status, problemOf(answer)]).toEqual([502, 'provider-timeout']);
    await other.close();
  });
});
