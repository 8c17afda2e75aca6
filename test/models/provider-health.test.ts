import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startInvokeHarness, type InvokeHarness } from '../prompts/invoke/invoke-harness.ts';
import { until } from '../support/until.ts';

let harness: InvokeHarness;
let slug: string;
beforeAll(async () => {
  harness = await startInvokeHarness({ statisticsEveryMs: 20 });
  slug = await harness.createPrompt();
});
afterAll(() => harness.close());

interface Health {
  status: string;
  succeeded: number;
  failed: number;
  last_success_at?: string;
  failing_since?: string;
  last_failure?: Record<string, unknown>;
}

async function healthOf(provider: string, key?: string): Promise<Health | undefined> {
  const { body } = await harness.service.call('GET', '/api/v1/providers', key === undefined ? {} : { key });
  return (body as { id: string; health?: Health }[]).find(({ id }) => id === provider)?.health;
}

/** Invokes the prompt with these models, one after the other. @returns the health when all calls are counted and noted */
async function after(calls: number, status: string, ...models: string[]): Promise<Health> {
  for (const model of models) await harness.invoke(slug, { model });
  const counted = await until(
    () => healthOf('mock'),
    (health) => health?.status === status && health.succeeded + health.failed === calls,
  );
  return counted ?? { status: '', succeeded: 0, failed: 0 };
}

it('is failing from the first call that fails until one succeeds', async () => {
  expect(await healthOf('mock')).toBeUndefined();
  const working = await after(1, 'ok', 'model-a');
  expect(working).toEqual({ status: 'ok', succeeded: 1, failed: 0, last_success_at: expect.any(String) });

  const refused = await after(2, 'failing', 'mock-401');
  expect(refused).toEqual({
    ...{ status: 'failing', succeeded: 1, failed: 1, last_success_at: working.last_success_at },
    failing_since: expect.any(String),
    last_failure: {
      at: expect.any(String),
      problem: 'urn:prompt-gateway:problem:provider-refused-credentials',
      detail: expect.stringContaining('does not accept the configured credentials (status 401'),
      provider_status: 401,
    },
  });
  // A call that is limited is repeated twice.
  const still = await after(6, 'failing', 'mock-401', 'mock-429');
  expect(still).toMatchObject({ status: 'failing', failing_since: refused.failing_since });
  expect(still.last_failure).toMatchObject({
    problem: 'urn:prompt-gateway:problem:provider-rate-limited',
    provider_status: 429,
    provider_message: expect.any(String),
  });

  const again = await after(7, 'ok', 'model-b');
  expect(again).toMatchObject({
    status: 'ok',
    succeeded: 2,
    failed: 5,
    last_failure: { problem: still.last_failure?.['problem'] },
  });
  expect(again).not.toHaveProperty('failing_since');
  expect(String(again.last_success_at) > String(working.last_success_at)).toBe(true);
});

it('does not follow from a request that the provider refuses', async () => {
  const { failed, succeeded } = (await healthOf('mock')) ?? { failed: 0, succeeded: 0 };
  const health = await after(failed + succeeded + 1, 'ok', 'mock-400');
  expect(health).toMatchObject({ status: 'ok', failed: failed + 1 });
});

it('does not follow from an answer that breaks the schema of its prompt', async () => {
  const prompt = await harness.createPrompt({ response_format: { type: 'json' } });
  const { failed, succeeded } = (await healthOf('mock')) ?? { failed: 0, succeeded: 0 };
  const counter = 'provider_attempts_total{provider="mock",outcome="provider-bad-answer"}';
  const before = await harness.metric(counter);
  expect((await harness.invoke(prompt, { retries: 1 })).status).toBe(502);
  const health = await after(failed + succeeded + 2, 'ok');
  expect(health).toMatchObject({ status: 'ok', failed, succeeded: succeeded + 2 });
  expect(await harness.metric(counter)).toBe(before + 2);
});

it('counts a call whose place another provider took', async () => {
  const fallbacks = [{ provider: 'mock', model: 'model-a' }];
  const saved = await harness.createPrompt({ selected_provider: 'spare', selected_model: 'mock-503', fallbacks });
  expect((await harness.invoke(saved)).status).toBe(200);
  const health = await until(
    () => healthOf('spare'),
    (found) => (found?.failed ?? 0) > 0,
  );
  expect(health).toMatchObject({ status: 'failing', succeeded: 0, last_failure: { provider_status: 503 } });
  expect(health).not.toHaveProperty('last_success_at');
});

it('is not shown to a key with limits, and not of providers without credentials', async () => {
  const { status, body } = await harness.service.call('POST', '/api/v1/api-keys', {
    body: { name: 'Limited', scopes: ['prompts:read'], limits: { models: ['mock/*'] } },
  });
  expect(status).toBe(201);
  expect(await healthOf('mock', (body as { key: string }).key)).toBeUndefined();
  expect(await healthOf('openai')).toBeUndefined();
});
