import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { createLogger } from '../../../src/observability/logger.ts';
import { LossyProxy } from '../../support/lossy-proxy.ts';
import { openDatabaseOf } from '../../support/per-operation.ts';
import { problemOf, providerKey, startInvokeHarness, type InvokeHarness } from './invoke-harness.ts';

const confidential = 'the merger with Initech is on';
const logged: string[] = [];
let harness: InvokeHarness;

beforeAll(async () => {
  harness = await startInvokeHarness({ log: createLogger('trace', { write: (line) => logged.push(line) }) });
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
});

/** The warning about an unknown variable. */
const unknown = (name: string): object => ({
  detail: 'is not declared or used by the prompt',
  pointer: `#/variables/${name}`,
});

/** Selects a provider that the service no longer has. */
async function retireProviderOf(slug: string): Promise<void> {
  const database = await openDatabaseOf(harness.service);
  await database.db.collection('prompts').updateOne({ slug }, { $set: { selected_provider: 'retired' } });
  await database.close();
}

describe('200', () => {
  it('is as strict as the version that runs', async () => {
    const prompt = await harness.createPrompt({ strict: true, variables: { declared: {} } });
    expect((await harness.invoke(prompt, { variables: { name: 'Ada', declared: 1 } })).status).toBe(200);
    const put = await harness.service.call('PUT', `/api/v1/prompts/${prompt}`, { body: { strict: false } });
    expect(put.body.version).toBe(2);
    const variables = { nmae: 'Ada' };
    expect((await harness.invoke(prompt, { variables })).status).toBe(200);
    expect(problemOf(await harness.invoke(prompt, { variables, version: 1 }))).toBe('unknown-variables');
  });

  it('warns of unknown variables, also in cached answers and replays', async () => {
    const prompt = await harness.createPrompt({ variables: { declared: {} } });
    const variables = { nmae: 'Ada', declared: 1, constructor: 'x' };
    const warnings = ['nmae', 'constructor'].map((name) => ({ code: 'unknown-variable', ...unknown(name) }));
    const headers = { 'Cache-Control': 'max-age=60', 'Idempotency-Key': 'warned' };
    expect((await harness.invoke(prompt, { variables: { declared: 1 } }, headers)).body).not.toHaveProperty('warnings');
    const cached = await harness.invoke(prompt, { variables }, { 'Cache-Control': 'max-age=60' });
    expect([cached.headers['x-cached'], cached.body.warnings]).toEqual(['true', warnings]);
    const fresh = await harness.invoke(prompt, { variables }, { 'Idempotency-Key': 'warned-2' });
    const replayed = await harness.invoke(prompt, { variables }, { 'Idempotency-Key': 'warned-2' });
    expect(replayed.headers['idempotency-replayed']).toBe('true');
    expect([fresh.body.warnings, replayed.body]).toEqual([warnings, fresh.body]);
  });

  it('answers with the generated text, and names its source', async () => {
    const prompt = await harness.createPrompt();
    const { body: stored } = await harness.service.call('GET', `/api/v1/prompts/${prompt}`);
    const { status, headers, body } = await harness.invoke(prompt, { variables: { name: 'Ada' } });
    expect(status).toBe(200);
    expect(body).toEqual({
      text: 'Hello from model-a.',
      finishReason: 'stop',
      usage: { inputTokens: 11, outputTokens: 7 },
      cost: null,
    });
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-prompt-id': stored.id,
      'x-provider': 'mock',
      'x-model': 'model-a',
      'x-latency-ms': expect.stringMatching(/^\d+$/),
      'x-cached': 'false',
    });
    for (const absent of ['x-prompt-version', 'age', 'etag', 'idempotency-replayed']) {
      expect(headers).not.toHaveProperty(absent);
    }
    expect(harness.mock.requests.map((request) => request.body)).toEqual([
      { model: 'model-a', messages: [{ role: 'user', content: 'Hello Ada' }] },
    ]);
    expect(harness.mock.requests[0]?.headers.authorization).toBe(`Bearer ${providerKey}`);
  });

  it('accepts the id or the slug, and an empty body', async () => {
    const prompt = await harness.createPrompt({ selected_provider: 'echo' });
    const { body: stored } = await harness.service.call('GET', `/api/v1/prompts/${prompt}`);
    const { status, body } = await harness.invoke(stored.id as string);
    expect([status, body.text]).toEqual([200, 'Hello world']);
  });

  it('keeps the order and roles of messages', async () => {
    const messages = [
      { role: 'system', content: 'Be {{mood}}.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '{"a": {{json}}}' },
      { role: 'user', content: '\\{{name}}' },
    ];
    const prompt = await harness.createPrompt({ messages, variables: { mood: { default: 'kind' } } });
    await harness.invoke(prompt, { variables: { json: { b: [1, null] } } });
    expect(harness.mock.requests[0]?.body['messages']).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '{"a": {"b":[1,null]}}' },
      { role: 'user', content: '{{name}}' },
    ]);
  });

  it('measures the time of the provider', async () => {
    const prompt = await harness.createPrompt({ selected_model: 'mock-slow-120' });
    const { headers } = await harness.invoke(prompt);
    expect(Number(headers['x-latency-ms'])).toBeGreaterThanOrEqual(115);
    expect(Number(headers['x-latency-ms'])).toBeLessThan(1_000);
  });

  it('returns the finish reason, and no numbers of tokens that the provider does not give', async () => {
    const prompt = await harness.createPrompt();
    harness.mock.behave('model-a', { kind: 'answer', finish: 'length', usage: false });
    const { body } = await harness.invoke(prompt);
    expect(body).toMatchObject({ finishReason: 'length' });
    expect(body.usage).toEqual({});
  });

  it('repeats the call after a short failure of the provider', async () => {
    const prompt = await harness.createPrompt({ selected_model: 'mock-flaky-2' });
    expect((await harness.invoke(prompt)).status).toBe(200);
    expect(harness.mock.requests).toHaveLength(3);
  });

  it('counts the calls of providers', async () => {
    const series = 'provider_call_duration_seconds_count{provider="mock",outcome="succeeded"}';
    const before = await harness.metric(series);
    await harness.invoke(await harness.createPrompt());
    expect(await harness.metric(series)).toBe(before + 1);
  });

  it('counts tokens by provider and model, and together for unlisted models', async () => {
    const of = (model: string, direction: string): Promise<number> =>
      harness.metric(`provider_tokens_total{provider="mock",model="${model}",direction="${direction}"}`);
    const before = { input: await of('model-a', 'input'), output: await of('model-a', 'output') };
    const { body } = await harness.invoke(await harness.createPrompt());
    expect(body.usage.inputTokens).toBeGreaterThan(0);
    expect(await of('model-a', 'input')).toBe(before.input + body.usage.inputTokens);
    expect(await of('model-a', 'output')).toBe(before.output + body.usage.outputTokens);
    const others = await of('other', 'output');
    for (const selected_model of ['made-up-1', 'made-up-2']) {
      await harness.invoke(await harness.createPrompt({ selected_model }));
    }
    expect(await of('other', 'output')).toBe(others + 2 * body.usage.outputTokens);
    expect((await harness.service.call('GET', '/metrics')).text).not.toContain('made-up');
  });
});

describe('selection of provider and model', () => {
  const cases: {
    name: string;
    selected: { provider?: string; model?: string };
    sent?: { provider?: string; model?: string };
    runs: [provider: string, model: string];
  }[] = [
    { name: 'both selected', selected: { provider: 'mock', model: 'model-b' }, runs: ['mock', 'model-b'] },
    { name: 'only a provider selected', selected: { provider: 'mock' }, runs: ['mock', 'model-a'] },
    {
      name: 'both overridden',
      selected: { provider: 'mock', model: 'model-b' },
      sent: { provider: 'echo', model: 'echo-upper' },
      runs: ['echo', 'echo-upper'],
    },
    {
      name: 'only the provider overridden: its default model',
      selected: { provider: 'echo', model: 'echo-upper' },
      sent: { provider: 'mock' },
      runs: ['mock', 'model-a'],
    },
    {
      name: 'the selected provider named again: its default model',
      selected: { provider: 'mock', model: 'model-b' },
      sent: { provider: 'mock' },
      runs: ['mock', 'model-a'],
    },
    {
      name: 'only the model overridden: the selected provider',
      selected: { provider: 'mock', model: 'model-b' },
      sent: { model: 'model-new' },
      runs: ['mock', 'model-new'],
    },
    { name: 'nothing selected', selected: {}, sent: { provider: 'mock', model: 'model-b' }, runs: ['mock', 'model-b'] },
    {
      name: 'a model selected without a provider',
      selected: { model: 'model-b' },
      sent: { provider: 'echo' },
      runs: ['echo', 'echo-1'],
    },
    {
      name: 'a model that is not in the list',
      selected: { provider: 'mock', model: 'org/model:7b@2' },
      runs: ['mock', 'org/model:7b@2'],
    },
  ];

  it.each(cases)('$name', async ({ selected, sent, runs: [provider, model] }) => {
    const prompt = await harness.createPrompt({
      selected_provider: selected.provider,
      selected_model: selected.model,
    });
    const { status, headers } = await harness.invoke(prompt, sent);
    expect(status).toBe(200);
    expect([headers['x-provider'], headers['x-model']]).toEqual([provider, model]);
    expect(harness.mock.requests.map((request) => request.model)).toEqual(provider === 'mock' ? [model] : []);
  });
});

describe('a pinned version', () => {
  it('runs with its own content and selection, and its number is in the answer', async () => {
    const prompt = await harness.createPrompt({ selected_provider: 'echo', selected_model: 'echo-upper' });
    await harness.service.call('PUT', `/api/v1/prompts/${prompt}`, {
      body: {
        messages: [{ role: 'user', content: 'Good bye' }],
        selected_provider: 'mock',
        selected_model: 'model-b',
      },
    });
    const first = await harness.invoke(prompt, { version: 1 });
    expect(first.body.text).toBe('HELLO WORLD');
    expect(first.headers).toMatchObject({ 'x-prompt-version': '1', 'x-provider': 'echo', 'x-model': 'echo-upper' });

    const second = await harness.invoke(prompt, { version: 2 });
    expect(second.headers).toMatchObject({ 'x-prompt-version': '2', 'x-provider': 'mock', 'x-model': 'model-b' });

    const latest = await harness.invoke(prompt);
    expect(latest.headers).not.toHaveProperty('x-prompt-version');
    expect([first, second, latest].map(({ headers }) => headers['x-served-version'])).toEqual(['1', '2', '2']);
    expect(harness.mock.requests.map((request) => request.body['messages'])).toEqual(
      Array(2).fill([{ role: 'user', content: 'Good bye' }]),
    );
  });

  it('can be overridden', async () => {
    const prompt = await harness.createPrompt({ selected_provider: 'echo' });
    const { headers } = await harness.invoke(prompt, { version: 1, provider: 'mock', model: 'model-b' });
    expect(headers).toMatchObject({ 'x-prompt-version': '1', 'x-provider': 'mock', 'x-model': 'model-b' });
  });

  it('is the latest version as soon as it is saved', async () => {
    const prompt = await harness.createPrompt({ selected_provider: 'echo' });
    for (const content of ['one', 'two', 'three']) {
      await harness.service.call('PUT', `/api/v1/prompts/${prompt}`, {
        body: { messages: [{ role: 'user', content }] },
      });
      expect((await harness.invoke(prompt)).body.text).toBe(content);
    }
  });
});

describe('a label', () => {
  const label = async (prompt: string, name: string, version: number): Promise<void> => {
    const options = { body: { version }, headers: { 'If-Match': '*' } };
    const { status } = await harness.service.call('PUT', `/api/v1/prompts/${prompt}/labels/${name}`, options);
    if (status === 412) {
      await harness.service.call('PUT', `/api/v1/prompts/${prompt}/labels/${name}`, { body: { version } });
    }
  };

  it('runs the version that it names, with the selection of that version, from its next move on another', async () => {
    const prompt = await harness.createPrompt({ messages: [{ role: 'user', content: 'first' }] });
    const changed = { messages: [{ role: 'user', content: 'second' }], selected_provider: 'echo' };
    await harness.service.call('PUT', `/api/v1/prompts/${prompt}`, { body: changed });
    await label(prompt, 'constructor', 1);
    const first = await harness.invoke(prompt, { label: 'constructor' });
    expect(first.headers).toMatchObject({ 'x-served-version': '1', 'x-provider': 'mock', 'x-model': 'model-a' });
    expect(first.headers).not.toHaveProperty('x-prompt-version');
    expect(harness.mock.requests[0]?.body['messages']).toEqual([{ role: 'user', content: 'first' }]);
    await label(prompt, 'constructor', 2);
    const second = await harness.invoke(prompt, { label: 'constructor' });
    expect(second.headers).toMatchObject({ 'x-served-version': '2', 'x-provider': 'echo' });
    expect(second.body.text).toBe('second');
  });

  it('that another prompt or no prompt has never runs the latest version', async () => {
    const prompt = await harness.createPrompt();
    await label(await harness.createPrompt(), 'production', 1);
    for (const name of ['production', 'prodution', 'tostring', 'constructor']) {
      const answer = await harness.invoke(prompt, { label: name });
      expect([answer.status, problemOf(answer)]).toEqual([422, 'unknown-label']);
      expect(answer.body.errors).toEqual([{ detail: 'is not a label of the prompt', pointer: '#/label' }]);
    }
    expect(harness.mock.requests).toHaveLength(0);
  });

  it.each([
    { label: 'latest' },
    { label: '__proto__' },
    { label: 'x'.repeat(33) },
    { label: '' },
    { label: null },
    { label: ['production'] },
  ])('is refused in the form %j', async (body) => {
    const answer = await harness.invoke(await harness.createPrompt(), body);
    expect([answer.status, problemOf(answer)]).toEqual([400, 'invalid-request']);
    expect(answer.body.errors).toContainEqual(expect.objectContaining({ pointer: '#/label' }));
  });

  it('is refused beside a version, even if both mean the same', async () => {
    const prompt = await harness.createPrompt();
    await label(prompt, 'production', 1);
    const options = { body: { label: 'production', version: 1 } };
    const answer = await harness.service.call('POST', `/api/v1/prompts/${prompt}/invoke`, options);
    expect([answer.status, problemOf(answer)]).toEqual([400, 'invalid-request']);
    expect(answer.body.errors).toEqual([{ detail: 'cannot be combined with version', pointer: '#/label' }]);
    expect(harness.mock.requests).toHaveLength(0);
  });
});

describe('400', () => {
  it.each<[string, unknown, Record<string, string>]>([
    ['JSON that breaks off', '{"variables":', {}],
    ['an array', [], {}],
    ['an unknown field', { variable: {} }, {}],
    ['a version that is not an integer', { version: 1.5 }, {}],
    ['version 0', { version: 0 }, {}],
    ['a version in quotes', { version: '1' }, {}],
    ['null for a provider', { provider: null }, {}],
    ['a provider with characters outside ASCII', { provider: 'öpenai' }, {}],
    ['a line feed in a model', { model: 'a\nb' }, {}],
    ['an operator for a provider', { provider: { $ne: '' } }, {}],
    ['variables that are not an object', { variables: ['a'] }, {}],
    ['a timeout of 0', {}, { 'X-Timeout-Ms': '0' }],
    ['a timeout that is not a number', {}, { 'X-Timeout-Ms': 'soon' }],
    ['a timeout of more than ten minutes', {}, { 'X-Timeout-Ms': '600001' }],
    ['an empty key', {}, { 'Idempotency-Key': '""' }],
  ])('refuses %s', async (_name, body, headers) => {
    const prompt = await harness.createPrompt();
    expect((await harness.invoke(prompt, body, headers)).status).toBe(400);
    expect(harness.mock.requests).toHaveLength(0);
  });
});

describe('401 and 403', () => {
  it('refuses callers without a key', async () => {
    const prompt = await harness.createPrompt();
    expect((await harness.invoke(prompt, {}, {}, null)).status).toBe(401);
  });

  it('refuses keys without the scope, and accepts keys with only this scope', async () => {
    const prompt = await harness.createPrompt();
    const reader = await harness.service.createKey('prompts:read', 'prompts:write');
    expect((await harness.invoke(prompt, {}, {}, reader)).status).toBe(403);
    expect(harness.mock.requests).toHaveLength(0);
    const invoker = await harness.service.createKey('prompts:invoke');
    expect((await harness.invoke(prompt, {}, {}, invoker)).status).toBe(200);
  });
});

describe('404', () => {
  it.each(['no-such-prompt', '00000000-0000-4000-8000-000000000000'])(
    'says that the prompt %s does not exist',
    async (prompt) => {
      const answer = await harness.invoke(prompt);
      expect([answer.status, problemOf(answer)]).toEqual([404, 'prompt-not-found']);
    },
  );

  it.each([2, 2_147_483_647])('runs no other version instead of version %d', async (version) => {
    const prompt = await harness.createPrompt();
    const answer = await harness.invoke(prompt, { version });
    expect([answer.status, problemOf(answer)]).toEqual([404, 'version-not-found']);
    expect(harness.mock.requests).toHaveLength(0);
  });

  it('says that a deleted prompt does not exist, with and without a pinned version', async () => {
    const prompt = await harness.createPrompt();
    await harness.service.call('DELETE', `/api/v1/prompts/${prompt}`);
    expect((await harness.invoke(prompt)).status).toBe(404);
    expect((await harness.invoke(prompt, { version: 1 })).status).toBe(404);
  });
});

describe('406, 413 and 415', () => {
  it('answers only JSON', async () => {
    const prompt = await harness.createPrompt();
    expect((await harness.invoke(prompt, {}, { Accept: 'text/plain' })).status).toBe(406);
  });

  it('reads at most 20 MiB', async () => {
    const prompt = await harness.createPrompt();
    const [begin, end] = ['{"variables":{"text":"', '"}}'];
    const bodyOf = (bytes: number): string => `${begin}${'x'.repeat(bytes - begin.length - end.length)}${end}`;
    expect((await harness.invoke(prompt, bodyOf(20 * 1024 * 1024))).status).toBe(200);
    expect((await harness.invoke(prompt, bodyOf(20 * 1024 * 1024 + 1))).status).toBe(413);
  });

  it('reads only JSON', async () => {
    const prompt = await harness.createPrompt();
    expect((await harness.invoke(prompt, '{}', { 'Content-Type': 'text/plain' })).status).toBe(415);
    expect(harness.mock.requests).toHaveLength(0);
  });
});

describe('422, before any provider is called', () => {
  afterEach(() => {
    expect(harness.mock.requests).toHaveLength(0);
  });

  it('names all variables without a value', async () => {
    const prompt = await harness.createPrompt({
      messages: [{ role: 'user', content: '{{a}} {{b}} {{c|d}} {{a}}' }],
      variables: { b: { required: true, default: 'unused' }, d: { required: true }, e: {} },
    });
    const answer = await harness.invoke(prompt, { variables: { d: null, a1: confidential } });
    expect([answer.status, problemOf(answer)]).toEqual([422, 'missing-variables']);
    expect(answer.body.variables).toEqual(['a', 'b', 'd']);
    expect(answer.text).not.toContain(confidential);
  });

  it('names no more variables than the contract allows', async () => {
    const content = Array.from({ length: 12_000 }, (_, index) => `{{v${index}}}`).join('');
    const answer = await harness.invoke(await harness.createPrompt({ messages: [{ role: 'user', content }] }));
    expect([answer.status, answer.body.variables.length]).toEqual([422, 10_000]);
  });

  it('names misspelt variables besides the missing ones', async () => {
    const prompt = await harness.createPrompt({ messages: [{ role: 'user', content: '{{name}}' }] });
    const answer = await harness.invoke(prompt, { variables: { nmae: confidential } });
    expect([answer.status, problemOf(answer)]).toEqual([422, 'missing-variables']);
    expect(answer.body).toMatchObject({ variables: ['name'], errors: [unknown('nmae')] });
    expect(answer.text).not.toContain(confidential);
  });

  it('refuses unknown variables if the version that runs is strict', async () => {
    const prompt = await harness.createPrompt({ strict: true, variables: { declared: {} } });
    const body = { variables: { nmae: confidential, declared: 1, name: 'Ada', other: null } };
    const refused = await harness.invoke(prompt, body);
    expect([refused.status, problemOf(refused)]).toEqual([422, 'unknown-variables']);
    expect(refused.body).toMatchObject({
      detail: 'The prompt does not declare or use: nmae, other.',
      variables: ['nmae', 'other'],
      errors: [unknown('nmae'), unknown('other')],
    });
    expect(refused.text).not.toContain(confidential);
  });

  it('refuses a prompt that becomes too large', async () => {
    const prompt = await harness.createPrompt({ messages: [{ role: 'user', content: '{{name}}'.repeat(10_000) }] });
    const answer = await harness.invoke(prompt, { variables: { name: confidential.repeat(1_000) } });
    expect([answer.status, problemOf(answer)]).toEqual([422, 'rendered-prompt-too-large']);
    expect(answer.text).not.toContain(confidential);
  });

  it('refuses an unknown provider in the request', async () => {
    const answer = await harness.invoke(await harness.createPrompt(), { provider: 'opnai', model: 'gpt' });
    expect([answer.status, problemOf(answer)]).toEqual([422, 'unknown-provider']);
    expect(answer.body).toMatchObject({
      detail: 'The provider "opnai" is not known.',
      errors: [{ detail: 'is not known', pointer: '#/provider' }],
      provider: 'opnai',
    });
  });

  it.each(['__proto__', 'constructor', 'toString'])('refuses the unknown provider %s', async (provider) => {
    const answer = await harness.invoke(await harness.createPrompt(), { provider });
    expect([answer.status, problemOf(answer)]).toEqual([422, 'unknown-provider']);
  });

  it('refuses an unknown provider in the prompt', async () => {
    const prompt = await harness.createPrompt();
    await retireProviderOf(prompt);
    const answer = await harness.invoke(prompt);
    expect([answer.status, problemOf(answer)]).toEqual([422, 'unknown-provider']);
    expect(answer.body.detail).toBe('The prompt\'s selected_provider "retired" is not known.');
    expect(answer.body).not.toHaveProperty('errors');
  });

  it('refuses a provider without credentials in the request', async () => {
    const answer = await harness.invoke(await harness.createPrompt(), { provider: 'openai' });
    expect([answer.status, problemOf(answer)]).toEqual([422, 'provider-not-configured']);
    expect(answer.body.errors).toEqual([{ detail: 'is not configured', pointer: '#/provider' }]);
  });

  it('refuses a provider without credentials in the prompt', async () => {
    const answer = await harness.invoke(await harness.createPrompt({ selected_provider: 'openai' }));
    expect([answer.status, problemOf(answer)]).toEqual([422, 'provider-not-configured']);
    expect(answer.body.detail).toContain('selected_provider');
  });

  it.each([{}, { model: 'model-b' }])('refuses a request without any provider: %j', async (body) => {
    const prompt = await harness.createPrompt({ selected_provider: undefined, selected_model: 'model-a' });
    const answer = await harness.invoke(prompt, body);
    expect([answer.status, problemOf(answer)]).toEqual([422, 'no-provider-selected']);
  });

  it('refuses a pinned version without a provider, even if the latest version has one', async () => {
    const prompt = await harness.createPrompt({ selected_provider: undefined });
    await harness.service.call('PUT', `/api/v1/prompts/${prompt}`, { body: { selected_provider: 'mock' } });
    expect(problemOf(await harness.invoke(prompt, { version: 1 }))).toBe('no-provider-selected');
  });

  it('checks version, variables and provider in this order', async () => {
    const prompt = await harness.createPrompt({
      messages: [{ role: 'user', content: '{{a}}' }],
    });
    await retireProviderOf(prompt);
    expect(problemOf(await harness.invoke(prompt, { version: 2 }))).toBe('version-not-found');
    expect(problemOf(await harness.invoke(prompt, {}))).toBe('missing-variables');
    expect(problemOf(await harness.invoke(prompt, { variables: { a: 1 } }))).toBe('unknown-provider');
  });
});

describe('502', () => {
  it.each([
    ['mock-503', 'provider-failed', { provider_status: 503, retryable: true }, 3],
    ['mock-500', 'provider-failed', { provider_status: 500, retryable: false }, 1],
    ['mock-400', 'provider-failed', { provider_status: 400, retryable: false }, 1],
    ['mock-404', 'provider-failed', { provider_status: 404, retryable: false }, 1],
    ['mock-401', 'provider-refused-credentials', { provider_status: 401, retryable: false }, 1],
    ['mock-429-7', 'provider-rate-limited', { provider_status: 429, retryable: true }, 1],
    ['mock-garbage', 'provider-bad-answer', { retryable: false }, 1],
    ['mock-cut', 'provider-bad-answer', { retryable: false }, 1],
    ['mock-hang', 'provider-timeout', { retryable: false }, 1],
  ])('tells what went wrong with %s', async (model, problem, members, calls) => {
    logged.length = 0;
    const messages = [{ role: 'user', content: `{{name}} as of ${confidential}` }];
    const prompt = await harness.createPrompt({ messages });
    const answer = await harness.invoke(
      prompt,
      { model, variables: { name: `${confidential} today` } },
      { 'X-Timeout-Ms': '2000' },
    );
    expect([answer.status, problemOf(answer)]).toEqual([502, problem]);
    expect(answer.body).toMatchObject({ provider: 'mock', model, ...members });
    expect(answer.headers['retry-after']).toBe(model === 'mock-429-7' ? '7' : undefined);
    expect(answer.headers['x-should-retry']).toBe('false');
    expect(harness.mock.requests).toHaveLength(calls);
    for (const text of [answer.text, JSON.stringify(answer.headers), ...logged]) {
      expect(text).not.toContain(providerKey);
      expect(text).not.toContain('Initech');
    }
    expect(logged.length).toBeGreaterThan(0);
  });

  it('also passes a model to echo, which refuses it', async () => {
    const answer = await harness.invoke(await harness.createPrompt(), { provider: 'echo', model: 'echo-9' });
    expect([answer.status, problemOf(answer)]).toEqual([502, 'provider-failed']);
  });

  it('counts failed calls by their problem type', async () => {
    const series = 'provider_call_duration_seconds_count{provider="mock",outcome="provider-refused-credentials"}';
    const before = await harness.metric(series);
    await harness.invoke(await harness.createPrompt(), { model: 'mock-401' });
    expect(await harness.metric(series)).toBe(before + 1);
  });
});

describe('429', () => {
  it('refuses more requests than the key can send', async () => {
    const limited = await startInvokeHarness({ environment: { RATE_LIMIT: '3/60s' } });
    try {
      const prompt = await limited.createPrompt();
      const answers = [await limited.invoke(prompt), await limited.invoke(prompt), await limited.invoke(prompt)];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
      expect(limited.mock.requests).toHaveLength(2);
    } finally {
      await limited.close();
    }
  });
});

describe('500', () => {
  it('hides the cause, and calls no provider', async () => {
    const prompt = await harness.createPrompt();
    const client = new MongoClient(harness.service.environment['MONGODB_URI'] ?? '');
    const prompts = client.db(harness.service.environment['MONGODB_DATABASE']).collection('prompts');
    await prompts.updateOne({ slug: prompt }, { $set: { messages: 'damaged' } });
    await client.close();
    const answer = await harness.invoke(prompt);
    expect([answer.status, problemOf(answer)]).toEqual([500, 'internal-error']);
    expect(harness.mock.requests).toHaveLength(0);
  });
});

describe('JSON Schemas of the request', () => {
  const refused = { properties: { a: { pattern: '^(' } } };
  const says = (mock: InvokeHarness['mock'], value: unknown): void => {
    mock.behave('model-a', { kind: 'stream', steps: [{ text: JSON.stringify(value) }, { finish: 'stop' }] });
  };
  const json = (schema: unknown): object => ({ response_format: { type: 'json', schema } });
  const selected = { selected_provider: 'mock' };

  it.each<[string, object, string]>([
    ['of the answer', json(refused), '#/response_format/schema/properties/a/pattern'],
    ['of a tool', { tools: [{ name: 'a', parameters: refused }] }, '#/tools/0/parameters/properties/a/pattern'],
    ['of 64 KiB and more', json({ description: 'x'.repeat(65_536) }), '#/response_format/schema'],
  ])('refuses one %s before any provider is called', async (_, members, pointer) => {
    const answer = await harness.invoke(await harness.createPrompt(), members);
    expect([answer.status, problemOf(answer)]).toEqual([422, 'invalid-schema']);
    expect(answer.body.errors).toMatchObject([{ pointer }]);
    expect(harness.mock.requests).toHaveLength(0);
  });

  it('passes an answer on with a warning if its check does not end, and does not cache it', async () => {
    const own = await startInvokeHarness({ answerCheckMs: 20 });
    try {
      const prompt = await own.createPrompt(selected);
      const items = Array.from({ length: 100_000 }, (_, index) => [index]);
      says(own.mock, items);
      const schema = { allOf: Array.from({ length: 3000 }, () => ({ uniqueItems: true })) };
      const answer = await own.invoke(prompt, json(schema), { 'Cache-Control': 'max-age=60' });
      expect([answer.status, answer.body.object]).toEqual([200, items]);
      expect(answer.body.warnings).toEqual([{ code: 'unverified-object', detail: expect.any(String) }]);
      expect(own.mock.requests).toHaveLength(1);
      const again = await own.invoke(prompt, json(schema), { 'Cache-Control': 'only-if-cached' });
      expect(problemOf(again)).toBe('not-cached');
    } finally {
      await own.close();
    }
  });
});

describe('503', () => {
  it('calls no provider while the database is unavailable, and recovers', async () => {
    const proxy = await LossyProxy.start(harness.service.environment['MONGODB_URI'] ?? '');
    const cut = await startInvokeHarness({ environment: { MONGODB_URI: proxy.uri } });
    try {
      const prompt = await cut.createPrompt();
      await proxy.stop();
      const answer = await cut.invoke(prompt);
      expect([answer.status, problemOf(answer)]).toEqual([503, 'database-unavailable']);
      expect(answer.headers['retry-after']).toMatch(/^\d+$/);
      expect(cut.mock.requests).toHaveLength(0);
      await proxy.restart();
      expect((await cut.invoke(prompt)).status).toBe(200);
    } finally {
      await cut.close();
      await proxy.stop();
    }
  });
});
