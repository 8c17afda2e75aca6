/** `GET /api/v1/costs` against the log, and against what the provider bills. */
import type { Usage } from '../../../src/models/language-model.ts';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fromAmount, showMoney } from '../../../src/base/runtime/money.ts';
import { startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import type { RecordedRequest } from '../../support/mock-provider.ts';
import type { Answer } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { pricesPath } from '../prices/prices-harness.ts';

let harness: InvokeHarness;
beforeAll(async () => {
  harness = await startInvokeHarness();
});
afterAll(() => harness.close());

const path = '/api/v1/costs';
const get = (query = '', key = harness.service.adminKey): Promise<Answer> =>
  harness.service.call('GET', `${path}${query}`, { key });

/** Nano-dollars for a token. */
const rates = { input: 100n, cached: 10n, output: 400n };
const setPrice = (model: string): Promise<Answer> =>
  harness.service.call('PUT', `${pricesPath}/mock/${encodeURIComponent(model)}`, {
    body: { rates: [{ input: '0.1', cached_input: '0.01', output: '0.4' }] },
  });

interface Logged {
  readonly id: string;
  readonly cost: { readonly amount: string } | null;
  readonly tags: { readonly case: string };
  readonly attempts: readonly {
    readonly model: string;
    readonly usage_source?: string;
    readonly status: string;
    readonly cost: { readonly amount: string; readonly basis?: string } | null;
    readonly usage?: Usage;
    readonly estimate?: { readonly usage: Usage; readonly cost: { readonly amount: string } };
  }[];
}

const body = (usage: object): string =>
  JSON.stringify({
    ...{ id: 'c', object: 'chat.completion', created: 1_790_000_000, model: 'm', usage },
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }],
  });

/** What the provider bills for a request, at least and at most. */
function billOf({ model }: RecordedRequest): bigint {
  if (/-(401|429|503)$/.test(model)) return 0n;
  if (model === 'cached') return 12n * rates.input + 8n * rates.cached + 9n * rates.output;
  return 11n * rates.input + 7n * rates.output;
}

describe('the bill of a provider', () => {
  const models = [
    ...['model-a', 'cached', 'mock-401', 'mock-429', 'mock-503', 'mock-500', 'mock-reset', 'mock-cut', 'mock-hang'],
    ...['mock-slow-30', 'mock-drip-20-50', 'without'],
  ];

  it('equals the log where it said its usage, and is at most the log where it did not', async () => {
    await Promise.all(models.map(setPrice));
    const parameters = { max_output_tokens: 50 };
    const slug = await harness.createPrompt({ parameters });
    const cachedUsage = {
      ...{ prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 },
      prompt_tokens_details: { cached_tokens: 8 },
      completion_tokens_details: { reasoning_tokens: 4 },
    };
    harness.mock.behave(
      'cached',
      ...[1, 2].map(() => ({
        ...({ kind: 'body', contentType: 'application/json', body: body(cachedUsage) } as const),
      })),
    );
    harness.mock.behave('without', { kind: 'answer', usage: false });
    const invoke = async (name: string, fields: object, headers: Record<string, string> = {}): Promise<void> => {
      const { status } = await harness.invoke(slug, fields, { 'X-Tags': `case=${name}`, ...headers });
      expect([200, 502]).toContain(status);
    };
    const leave = async (name: string, fields: object): Promise<void> => {
      const leaving = new AbortController();
      const trace = randomBytes(16).toString('hex');
      const headers = { 'X-Tags': `case=${name}`, traceparent: `00-${trace}-00f067aa0ba902b7-01` };
      const call = harness.invokeUntil(leaving.signal, slug, fields, headers);
      await until(
        () => harness.mock.requests.some((request) => String(request.headers['traceparent']).includes(trace)),
        (hasCome) => hasCome,
      );
      if ('stream' in fields) await (await call).body?.getReader().read();
      leaving.abort();
      await call.catch(() => undefined);
    };
    const run = async (name: string): Promise<void> => {
      const providers = ['model-a', 'mock-401', 'cached'].map((model) => ({ provider: 'mock', model }));
      const { status } = await harness.service.call('POST', `/api/v1/prompts/${slug}/test`, {
        body: { providers },
        headers: { 'X-Tags': `case=${name}` },
      });
      expect(status).toBe(201);
    };
    const shared = { variables: { name: 'shared' }, model: 'mock-slow-30' };
    const age = { 'Cache-Control': 'max-age=60' };

    await invoke('retried', { model: 'mock-429' });
    await invoke('whole', {});
    await invoke('streamed', { stream: true });
    await invoke('cached-tokens', { model: 'cached' });
    await invoke('no-usage', { model: 'without' });
    await invoke('refused', { model: 'mock-401' });
    await invoke('overloaded', { model: 'mock-503' });
    await invoke('fallback', { model: 'mock-500', fallbacks: [{ provider: 'mock', model: 'model-a' }] });
    await invoke('reset', { model: 'mock-reset' });
    await invoke('cut-stream', { model: 'mock-cut', stream: true });
    await invoke('time-out', { model: 'mock-hang' }, { 'X-Timeout-Ms': '2000' });
    await leave('left', { model: 'mock-hang' });
    await leave('left-stream', { model: 'mock-drip-20-50', stream: true });
    await Promise.all([1, 2, 3].map(() => invoke('shared', shared, age)));
    await invoke('from-the-cache', shared, age);
    await run('test-run');

    const logged = await until(
      async () => (await harness.service.call('GET', '/api/v1/invocations?limit=100')).body.data as Logged[],
      (records) => records.length === 20,
    );
    const attempts = logged.flatMap((one) => one.attempts);
    const made = Map.groupBy(attempts, ({ model }) => model);
    for (const [model, requests] of Map.groupBy(harness.mock.requests, (request) => request.model)) {
      const [logs, bills] = [made.get(model)?.length ?? 0, requests.length];
      // Of what times out, perhaps nothing was sent yet.
      if (model === 'mock-hang') expect(logs).toBeGreaterThanOrEqual(bills);
      else expect({ model, logs }).toEqual({ model, logs: bills });
    }

    const nanos = (cost: { amount: string } | null | undefined): bigint => fromAmount(cost?.amount ?? 'unknown');
    const bySource = Map.groupBy(attempts, ({ usage_source: source = 'not charged' }) => source);
    const rows = [...bySource].map(([source, some]) => ({
      source,
      attempts: some.length,
      cost: some.reduce((sum, { cost }) => sum + nanos(cost), 0n),
      /** Each of these has the usage of `mockUsage` or of `cached`, or costs nothing. */
      billed: some.reduce((sum, one) => sum + billOf(one as unknown as RecordedRequest), 0n),
    }));
    if (process.env['PRINT_TABLES'] === 'on') console.table(rows);
    for (const { source, cost, billed: bill } of rows) {
      if (source === 'ceiling') expect(cost).toBeGreaterThan(bill);
      else expect({ source, cost }).toEqual({ source, cost: bill });
    }
    expect(rows.map(({ source }) => source).toSorted()).toEqual(['ceiling', 'not charged', 'provider']);
    const ceilings = bySource.get('ceiling') ?? [];
    for (const { cost, estimate } of ceilings) {
      expect(cost?.basis).toBe('ceiling');
      expect(nanos(estimate?.cost)).toBeLessThan(nanos(cost));
    }

    // Tokens that providers said, and estimates of the others.
    const tokens = (source: string, name: 'inputTokens' | 'outputTokens'): number =>
      (bySource.get(source) ?? []).reduce((sum, one) => sum + ((one.estimate?.usage ?? one.usage)?.[name] ?? 0), 0);
    expect((await get()).body.total).toMatchObject({
      input_tokens: tokens('provider', 'inputTokens'),
      output_tokens: tokens('provider', 'outputTokens'),
      estimated_input_tokens: tokens('ceiling', 'inputTokens'),
    });

    // The sums are those of the log, by whatever they are added up.
    const total = logged.reduce((sum, one) => sum + nanos(one.cost), 0n);
    for (const by of ['day', 'key', 'prompt', 'version', 'model', 'tag']) {
      const { body: costs } = await get(`?by=${by}`);
      expect({ by, cost: costs.total.cost }).toEqual({ by, cost: showMoney(total) });
      const groups = costs.groups as { sums: { cost: { amount: string }; calls: number } }[];
      expect(groups.reduce((sum, { sums }) => sum + nanos(sums.cost), 0n)).toBe(total);
      expect(groups.reduce((sum, { sums }) => sum + sums.calls, 0)).toBe(attempts.length);
      expect(costs.total.failed_calls).toBe(attempts.filter(({ status }) => status === 'failed').length);
    }
    const { body: byTag } = await get('?by=tag');
    const ofShared = (byTag.groups as { tag: string; sums: { calls: number } }[]).find(
      ({ tag }) => tag === 'case=shared',
    );
    expect(ofShared?.sums.calls).toBe(1);
    const { body: ofModel } = await get('?model=cached&provider=mock');
    expect(ofModel.total).toMatchObject({ calls: 2, input_tokens: 40, output_tokens: 18 });
    const ceilingCost = ceilings.reduce((sum, { cost }) => sum + nanos(cost), 0n);
    expect((await get()).body.total.ceiling_cost).toEqual(showMoney(ceilingCost));
  });
});

describe('200', () => {
  it('has names of keys and slugs of prompts, and what has no prompt', async () => {
    const slug = await harness.createPrompt({ name: 'Named', selected_provider: 'echo', selected_model: 'echo-1' });
    await harness.invoke(slug);
    const { body: direct } = await harness.service.call('POST', '/v1/chat/completions', {
      body: { model: 'echo/echo-1', messages: [{ role: 'user', content: 'Hi' }] },
    });
    expect(direct.choices).toHaveLength(1);
    const { body: byVersion } = await get('?by=version&provider=echo');
    expect(byVersion.groups).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ prompt_slug: slug, prompt_version: 1 }),
        { sums: expect.objectContaining({ calls: 1, cost: { amount: '0', currency: 'USD' } }) },
      ]),
    );
    expect((await get(`?prompt=${slug}`)).body.total.calls).toBe(1);
    const { body: byKey } = await get('?by=key&provider=echo');
    expect(byKey.groups).toMatchObject([{ key_id: expect.any(String), key_name: expect.any(String) }]);
  });

  it('is empty before, after, and for a span without length', async () => {
    for (const query of [
      '?until=2020-01-01&since=2019-01-01',
      '?since=2999-01-01',
      '?since=2026-01-02&until=2026-01-01',
    ]) {
      const { status, body: empty } = await get(query);
      expect({ status, calls: empty.total.calls, groups: empty.groups }).toEqual({ status: 200, calls: 0, groups: [] });
    }
  });

  it('has only what a key with limits can reach', async () => {
    const own = await harness.createPrompt({ name: 'Own', selected_provider: 'echo', selected_model: 'echo-1' });
    const { body: prompt } = await harness.service.call('GET', `/api/v1/prompts/${own}`);
    const created = await harness.service.call('POST', '/api/v1/api-keys', {
      body: { name: 'limited', scopes: ['invocations:read'], limits: { prompts: [prompt.id] } },
    });
    await harness.invoke(own);
    const key = created.body.key as string;
    expect((await get('', key)).body.total.calls).toBe(1);
    const { body: byPrompt } = await get('?by=prompt', key);
    expect((byPrompt.groups as { prompt_id: string }[]).map(({ prompt_id: id }) => id)).toEqual([prompt.id]);
    const { body: all } = await get('?by=prompt');
    const foreign = (all.groups as { prompt_id?: string }[]).find(({ prompt_id: id }) => id !== prompt.id)?.prompt_id;
    expect((await get(`?prompt=${foreign}`, key)).body.groups).toEqual([]);
  });

  it('reads a span of millennia no longer than that of what is kept', async () => {
    const whole = await get('?since=0001-01-01T00:00:00Z&until=9999-12-31T00:00:00Z');
    const usual = await get();
    expect([whole.status, whole.body.since, whole.body.until]).toEqual([
      200,
      '0001-01-01T00:00:00.000Z',
      '9999-12-31T00:00:00.000Z',
    ]);
    expect([whole.body.total, whole.body.groups]).toEqual([usual.body.total, usual.body.groups]);
  });
});
