/** What a key with limits can reach: on every path, whatever a caller tries. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { operationTable, type OperationId } from '../../../generated/operations.ts';
import { allScopes } from '../../../src/access/api-keys/feature.ts';
import { startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import { callWith, cookieFor } from '../sessions/sessions-harness.ts';
import { callEveryOperation, environmentOfEveryOperation } from '../../support/every-operation.ts';
import { problem, problemIn } from '../../support/per-operation.ts';
import type { Answer } from '../../support/service.ts';

let harness: InvokeHarness;
beforeAll(async () => {
  const environment = {
    ...environmentOfEveryOperation,
    ANTHROPIC_API_KEY: 'unused',
    AWS_BEARER_TOKEN_BEDROCK: 'unused',
    AWS_BEDROCK_REGION: 'eu-west-1',
  };
  harness = await startInvokeHarness({ environment });
});
afterAll(() => harness.close());
afterEach(() => {
  harness.mock.reset();
});

const prompts = '/api/v1/prompts';
const messages = [{ role: 'user', content: 'Hello' }];

async function makeKey(limits: object, maker = harness.service.adminKey): Promise<string> {
  const body = { name: 'limited', scopes: allScopes, limits };
  const created = await harness.service.call('POST', '/api/v1/api-keys', { body, key: maker });
  expect(created.status).toBe(201);
  return (created.body as { key: string }).key;
}

function call(key: string, path: string, body?: object): Promise<Answer> {
  return harness.service.call(body === undefined ? 'GET' : 'POST', path, { key, ...(body && { body }) });
}

const idOf = async (slug: string): Promise<string> => (await harness.service.call('GET', `${prompts}/${slug}`)).body.id;

/** Every way to have a prompt answered, by whole answers and streams. */
type Way = (key: string, slug: string) => Promise<Answer>;
const ways: readonly (readonly [string, Way])[] = [
  ['invoke', (key, slug) => call(key, `${prompts}/${slug}/invoke`, {})],
  ['invoke, streamed', (key, slug) => call(key, `${prompts}/${slug}/invoke`, { stream: true })],
  ['render', (key, slug) => call(key, `${prompts}/${slug}/render`, {})],
  ['chat completions', (key, slug) => call(key, '/v1/chat/completions', { model: `prompt/${slug}`, messages: [] })],
  [
    'chat completions, streamed',
    (key, slug) => call(key, '/v1/chat/completions', { prompt: { id: slug }, messages: [], stream: true }),
  ],
  ['responses', (key, slug) => call(key, '/v1/responses', { prompt: { id: slug } })],
  ['responses, streamed', (key, slug) => call(key, '/v1/responses', { model: `prompt/${slug}`, stream: true })],
  ['messages', (key, slug) => call(key, '/v1/messages', { model: `prompt/${slug}`, messages: [] })],
  [
    'messages, streamed',
    (key, slug) => call(key, '/v1/messages', { model: `prompt/${slug}`, messages: [], stream: true }),
  ],
];

describe('a key that is limited to some prompts', () => {
  let own: string;
  let foreign: string;
  let key: string;
  beforeAll(async () => {
    own = await harness.createPrompt({ name: 'Own' });
    foreign = await harness.createPrompt({ name: 'Foreign' });
    key = await makeKey({ prompts: [await idOf(own)] });
  });

  it.each(ways)('reaches its own by %s, and no other', async (_name, way) => {
    expect((await way(key, own)).status).toBe(200);
    const sent = harness.mock.requests.length;
    const ids = [foreign, await idOf(foreign)];
    const unknown = await way(key, 'no-such-prompt');
    for (const slugOrId of ids) {
      const { status, body } = await way(key, slugOrId);
      expect([status, problemIn(body)]).toEqual([404, problem('prompt-not-found')]);
      expect(
        JSON.stringify(body)
          .replaceAll(slugOrId, 'no-such-prompt')
          .replace(/"request_id":"[^"]*"/, ''),
      ).toBe(JSON.stringify(unknown.body).replace(/"request_id":"[^"]*"/, ''));
    }
    expect(harness.mock.requests).toHaveLength(sent);
  });

  it('does not learn whether a version or a label of another exists', async () => {
    const selections = [{ version: 1 }, { version: 9 }, { label: 'production' }];
    const answers = [
      ...(await Promise.all(selections.map((body) => call(key, `${prompts}/${foreign}/invoke`, body)))),
      ...(await Promise.all(
        ['1', '9', 'production'].map((at) =>
          call(key, '/v1/chat/completions', { model: `prompt/${foreign}@${at}`, messages: [] }),
        ),
      )),
    ];
    expect(answers.map(({ body }) => problemIn(body))).toEqual(answers.map(() => problem('prompt-not-found')));
  });

  it('finds no other by any operation of the contract that names a prompt, a test run, an evaluation or an invocation', async () => {
    const calls = await callEveryOperation(harness.service);
    const named = Object.entries(operationTable).flatMap(([id, row]) =>
      /\{slugOrId\}|\/(test-runs|evaluations|invocations)\/\{id\}/.test(row.path) ? [id as OperationId] : [],
    );
    expect(named.length).toBeGreaterThan(15);
    const limited = await makeKey({ prompts: [await idOf(own)] });
    const answers = await Promise.all(
      named.map(async (id) => {
        const { method, path, ...options } = calls[id];
        const { status, body } = await harness.service.call(method, path, { ...options, key: limited });
        return [id, status, problemIn(body)];
      }),
    );
    const type = (id: OperationId): string =>
      (/[a-z]Invocation/.test(id) && 'invocation-not-found') ||
      (/^getTestRun/.test(id) && 'test-run-not-found') ||
      (/\/evaluations\/\{id\}/.test(operationTable[id].path) ? 'evaluation-not-found' : 'prompt-not-found');
    expect(answers).toEqual(named.map((id) => [id, 404, problem(type(id))]));
    const free = await harness.service.call(calls.getTestRun.method, calls.getTestRun.path);
    expect(free.status).toBe(200);
  });

  it('can change its own under any of its names', async () => {
    for (const name of [own, await idOf(own)]) {
      const body = { description: name };
      const changed = await harness.service.call('PUT', `${prompts}/${name}`, { body, key });
      expect([changed.status, changed.body.description]).toEqual([200, name]);
      expect((await call(key, `${prompts}/${name}/versions`)).body.pagination.total).toBe(1);
    }
  });

  it('creates none', async () => {
    const { status, body } = await call(key, prompts, { name: 'Mine', messages });
    expect([status, body.type]).toEqual([403, problem('beyond-limits')]);
  });

  it('takes no name under which others call prompts, and gives away none', async () => {
    const mine = await idOf(await harness.createPrompt({ name: 'Named', aliases: ['pmpt_given'] }));
    const child = await makeKey({ requests_per_minute: 1_000 }, await makeKey({ prompts: [mine] }));
    const at = `${prompts}/${mine}`;
    const { body: before, headers } = await harness.service.call('GET', at);
    const freed = await harness.createPrompt({ name: 'Freed' });
    await harness.service.call('DELETE', `${prompts}/${freed}`);
    for (const body of [
      { slug: freed },
      { aliases: ['pmpt_squatted'] },
      { aliases: ['pmpt_given', 'pmpt_squatted'], description: 'With others' },
      { aliases: [] },
      { aliases: null },
    ]) {
      const answer = await harness.service.call('PUT', at, { body, key: child });
      expect([answer.status, answer.body.type]).toEqual([403, problem('beyond-limits')]);
      expect(answer.body.detail).toBe('This key is limited to some prompts, so it cannot change slugs and aliases.');
    }
    expect((await harness.service.call('GET', at)).headers['etag']).toBe(headers['etag']);
    // What is sent back as it is changes nothing.
    const same = await harness.service.call('PUT', at, { body: { ...before, description: 'Mine' }, key: child });
    expect([same.status, same.body.description, same.body.version]).toEqual([200, 'Mine', 1]);
    // Nor by a deletion and another creation.
    expect((await harness.service.call('DELETE', at, { key: child })).status).toBe(200);
    const versions = [{ version: 1, messages }];
    const again = await Promise.all([
      call(child, prompts, { name: 'Again', slug: before.slug, messages }),
      call(child, `${prompts}/import`, { prompts: [{ slug: before.slug, name: 'Again', versions }] }),
    ]);
    expect(again.map(({ status, body }) => [status, body.type])).toEqual(
      again.map(() => [403, problem('beyond-limits')]),
    );
  });

  it('neither reads nor changes what holds for all prompts', async () => {
    const calls = await callEveryOperation(harness.service);
    const whole = [
      ...['listBudgets', 'getBudget', 'setBudget', 'deleteBudget', 'setPrice', 'deletePrice', 'listAuditLog'],
      ...Object.keys(operationTable).filter((id) => id.includes('Dataset')),
      // Receivers get events of all prompts.
      ...Object.entries(operationTable).flatMap(([id, { path }]) =>
        /\/(integrations|deliveries|replays)/.test(path) ? [id] : [],
      ),
    ];
    for (const id of whole as OperationId[]) {
      const { method, path, ...options } = calls[id];
      const { status, body } = await harness.service.call(method, path, { ...options, key });
      expect([id, status, problemIn(body)]).toEqual([id, 403, problem('beyond-limits')]);
    }
    const budget = calls.getBudget;
    expect((await harness.service.call(budget.method, budget.path)).status).toBe(200);
  });

  it('and no key that it creates, can reach integrations by limits of locations', async () => {
    const shop = await harness.service.call('POST', '/v1/locations', {
      body: { name: 'Harbour', currency: 'EUR', time_zone: 'Europe/Amsterdam' },
    });
    const locations = [shop.body.id as string];
    const mine = await idOf(own);
    const parent = await makeKey({ prompts: [mine] });
    for (const limited of [
      await makeKey({ locations }, parent),
      await makeKey({ prompts: [mine], locations }, parent),
    ]) {
      const { status, body } = await call(limited, '/api/v1/integrations');
      expect([status, body.type]).toEqual([403, problem('beyond-limits')]);
    }
    const partner = await makeKey({ locations, prompts: [mine] });
    for (const limited of [
      partner,
      await makeKey({ requests_per_minute: 1_000 }, partner),
      await makeKey({ prompts: [mine] }, partner),
    ]) {
      expect((await call(limited, '/api/v1/integrations')).status).toBe(200);
    }
  });

  it('gets only its own in lists', async () => {
    for (const query of ['', '?q=o', '?limit=1', '?offset=0']) {
      const { body } = await call(key, prompts + query);
      expect(body.data.map(({ slug }: { slug: string }) => slug)).toEqual([own]);
      expect(body.pagination).toMatchObject({ total: 1, next: null });
    }
    expect((await call(key, `${prompts}?q=foreign`)).body.data).toEqual([]);
    const { body: models } = await call(key, '/v1/models');
    const ids = models.data.map(({ id }: { id: string }) => id);
    expect(ids.filter((id: string) => id.startsWith('prompt/'))).toEqual([`prompt/${own}`]);
    expect((await call(key, `/v1/models/prompt/${own}`)).status).toBe(200);
    const hidden = await call(key, `/v1/models/prompt/${foreign}`);
    expect([hidden.status, problemIn(hidden.body)]).toEqual([404, problem('prompt-not-found')]);
  });

  it('does not follow its slug to another prompt', async () => {
    const slug = await harness.createPrompt({ name: 'Moving' });
    const moving = await makeKey({ prompts: [await idOf(slug)] });
    expect((await harness.invoke(slug, {}, {}, moving)).status).toBe(200);
    await harness.service.call('PUT', `${prompts}/${slug}`, { body: { slug: `${slug}-before` } });
    await harness.service.call('PUT', `${prompts}/${foreign}`, { body: { slug } });
    expect((await harness.invoke(slug, {}, {}, moving)).status).toBe(404);
    expect((await harness.invoke(`${slug}-before`, {}, {}, moving)).status).toBe(200);
    await harness.service.call('PUT', `${prompts}/${slug}`, { body: { slug: foreign } });
  });
});

describe('a key that is limited to some models', () => {
  let key: string;
  let slug: string;
  beforeAll(async () => {
    key = await makeKey({ models: ['mock/model-b', 'echo/echo-1*'] });
    slug = await harness.createPrompt({ name: 'On model-a', selected_model: 'model-a' });
  });
  const chat = (body: object): Promise<Answer> => call(key, '/v1/chat/completions', { messages, ...body });
  const respond = (body: object): Promise<Answer> => call(key, '/v1/responses', { input: 'Hello', ...body });
  const invoke = (body: object): Promise<Answer> => harness.invoke(slug, body, {}, key);
  const refused = ({ status, body }: Answer): void => {
    expect([status, problemIn(body)]).toEqual([403, problem('beyond-limits')]);
    expect(harness.mock.requests).toHaveLength(0);
  };

  it.each(ways)('cannot run a prompt of another model by %s', async (_name, way) => {
    refused(await way(key, slug));
    const allowed = await harness.createPrompt({ selected_model: 'model-b' });
    expect((await way(key, allowed)).status).toBe(200);
  });

  it.each([
    { model: 'model-a' },
    { model: 'model-B' },
    { model: 'model-b2' },
    { model: 'model-' },
    { model: '../model-b' },
    { model: 'model-b/../model-a' },
    { provider: 'spare' },
    { provider: 'plain', model: 'model-b' },
    { provider: 'echo', model: 'echo' },
    { provider: 'mock', model: 'echo-1' },
  ])('cannot override the model with %j', async (override) => {
    for (const body of [override, { ...override, stream: true }, { ...override, messages, tools: null }]) {
      const answer = await invoke(body);
      refused(answer);
      expect(answer.body.errors).toEqual([
        { detail: 'is beyond the limits of the key', pointer: 'model' in override ? '#/model' : '#/provider' },
      ]);
    }
    refused(await call(key, `${prompts}/${slug}/render`, override));
  });

  it('says what it may use', async () => {
    const { body } = await invoke({ model: 'model-a' });
    expect(body.detail).toBe('This key may not use mock/model-a. It may use mock/model-b, echo/echo-1*.');
    const stored = await invoke({});
    expect(stored.body.errors).toBeUndefined();
  });

  it('cannot call another model directly, or a prompt on it', async () => {
    for (const more of [{}, { stream: true }]) {
      for (const model of ['mock/model-a', 'mock/MODEL-B', 'spare/spare-a', 'mock/model-b%00', 'plain/mock/model-b']) {
        refused(await chat({ model, ...more }));
        refused(await respond({ model, ...more }));
        refused(await chat({ model, prompt: { id: slug }, ...more }));
        refused(await respond({ model, prompt: { id: slug }, ...more }));
      }
    }
    const { body } = await chat({ model: 'mock/model-a' });
    expect(body.error.param).toBe('model');
    expect((await chat({ model: 'mock/model-b' })).status).toBe(200);
    expect((await respond({ model: 'echo/echo-1' })).status).toBe(200);
  });

  it('does not find the name of another model alone', async () => {
    const answer = await chat({ model: 'model-a' });
    expect([answer.status, problemIn(answer.body)]).toEqual([404, problem('model-not-found')]);
    expect(answer.text).not.toContain('mock/');
    expect((await chat({ model: 'model-b' })).status).toBe(200);
  });

  it('cannot test on another model, and gets all mistakes', async () => {
    const path = `${prompts}/${slug}/test`;
    const providers = [
      { provider: 'mock', model: 'model-b' },
      { provider: 'spare' },
      { provider: 'mock', model: 'model-a' },
    ];
    const answer = await call(key, path, { providers });
    refused(answer);
    expect(answer.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '#/providers/1',
      '#/providers/2',
    ]);
    const allowed = await call(key, path, { providers: [{ provider: 'mock' }, { provider: 'echo' }] });
    expect(allowed.body.providers).toEqual([
      { provider: 'mock', model: 'model-b' },
      { provider: 'echo', model: 'echo-1' },
    ]);
  });

  it('leaves out the fallbacks of a prompt that it may not use, and says so in render', async () => {
    const fallbacks = [{ provider: 'spare' }, { provider: 'mock', model: 'model-a' }, { provider: 'echo' }];
    const failing = await harness.createPrompt({ selected_model: 'model-b', fallbacks });
    const { body: rendered } = await call(key, `${prompts}/${failing}/render`, {});
    expect(rendered.targets.map(({ provider }: { provider: string }) => provider)).toEqual(['mock', 'echo']);
    harness.mock.behave('model-b', { kind: 'status', status: 500 });
    const { status, headers } = await harness.invoke(failing, {}, {}, key);
    expect([status, headers['x-provider']]).toEqual([200, 'echo']);
    expect(harness.mock.requests.map(({ body }) => body['model'])).toEqual(['model-b']);
  });

  it('cannot bring a fallback that it may not use', async () => {
    const body = { model: 'model-b', fallbacks: [{ provider: 'echo' }, { provider: 'spare' }] };
    const answer = await invoke(body);
    refused(answer);
    expect(answer.body.errors).toMatchObject([{ pointer: '#/fallbacks/1' }]);
  });

  it('takes its own first model as the default of a provider, as the list of providers says', async () => {
    const { body } = await call(key, '/api/v1/providers');
    expect(body.map(({ id, models, defaultModel }: Record<string, unknown>) => [id, models, defaultModel])).toEqual([
      ['echo', ['echo-1'], 'echo-1'],
      ['mock', ['model-b'], 'model-b'],
    ]);
    const { headers } = await invoke({ provider: 'mock' });
    expect(headers['x-model']).toBe('model-b');
  });

  it('gets only its own in the list of models', async () => {
    const { body } = await call(key, '/v1/models');
    const ids = body.data.map(({ id }: { id: string }) => id).filter((id: string) => !id.startsWith('prompt/'));
    expect(ids).toEqual(['echo/echo-1', 'mock/model-b']);
    expect((await call(key, '/v1/models/mock/model-b')).status).toBe(200);
    for (const id of ['mock/model-a', 'model-a', 'spare/spare-a', 'spare-a']) {
      const answer = await call(key, `/v1/models/${id}`);
      expect([answer.status, problemIn(answer.body)]).toEqual([404, problem('model-not-found')]);
    }
  });

  it('gets no cached answer of another model', async () => {
    const headers = { 'cache-control': 'max-age=60' };
    const body = { variables: { name: 'cached' } };
    expect((await harness.invoke(slug, body, headers)).status).toBe(200);
    expect((await harness.invoke(slug, body, headers)).headers['x-cached']).toBe('true');
    harness.mock.reset();
    refused(await harness.invoke(slug, body, headers, key));
  });
});

describe('a key with a maximum of output tokens', () => {
  let key: string;
  beforeAll(async () => {
    key = await makeKey({ max_output_tokens: 1000 });
  });
  const sent = (): unknown[] => harness.mock.requests.map(({ body }) => body['max_tokens']);

  it.each([
    ['nothing', undefined, undefined, 1000],
    ['more in the prompt', 5000, undefined, 1000],
    ['less in the prompt', 20, undefined, 20],
    ['more in the request', 20, 5000, 1000],
    ['less in the request', undefined, 7, 7],
  ])('sends the smaller number on every path: %s', async (_name, stored, asked, expected) => {
    const parameters = stored === undefined ? {} : { parameters: { max_output_tokens: stored } };
    const slug = await harness.createPrompt(parameters);
    const own = asked === undefined ? {} : { parameters: { max_output_tokens: asked } };
    const { body: rendered } = await call(key, `${prompts}/${slug}/render`, own);
    expect(rendered.parameters).toEqual({ max_output_tokens: expected });
    const chat = { messages, ...(asked !== undefined && { max_completion_tokens: asked }) };
    const respond = { input: 'Hello', ...(asked !== undefined && { max_output_tokens: asked }) };
    const anthropic = asked !== undefined && { max_tokens: asked };
    for (const stream of [false, true]) {
      await harness.invoke(slug, { ...own, stream }, {}, key);
      await call(key, '/v1/chat/completions', { model: `prompt/${slug}`, ...chat, stream });
      const { text } = await call(key, '/v1/responses', { model: `prompt/${slug}`, ...respond, stream });
      expect(text).toContain(`"max_output_tokens":${expected}`);
      await call(key, '/v1/messages', { model: `prompt/${slug}`, messages, ...anthropic, stream });
    }
    expect(sent()).toEqual(Array.from({ length: 8 }, () => expected));
    harness.mock.reset();
    await call(key, '/v1/chat/completions', { model: 'mock/model-a', ...chat });
    await call(key, '/v1/responses', { model: 'mock/model-a', ...respond });
    await call(key, '/v1/messages', { model: 'mock/model-a', messages, max_tokens: asked ?? 2000 });
    const direct = Math.min(1000, asked ?? 1000);
    expect(sent()).toEqual([direct, direct, direct]);
  });

  it('sends it in test runs and to fallbacks', async () => {
    const slug = await harness.createPrompt({
      parameters: { max_output_tokens: 2000 },
      fallbacks: [{ provider: 'spare' }],
    });
    harness.mock.behave('model-a', { kind: 'status', status: 500 });
    expect((await harness.invoke(slug, {}, {}, key)).headers['x-provider']).toBe('spare');
    await call(key, `${prompts}/${slug}/test`, { providers: [{ provider: 'spare' }, { provider: 'mock' }] });
    expect(sent()).toEqual([1000, 1000, 1000, 1000]);
  });

  it('counts what a model may think, which some providers get besides', async () => {
    const thinking = (budget: number): object => ({
      anthropic: { thinking: { type: 'enabled', budgetTokens: budget } },
    });
    const slug = await harness.createPrompt({ selected_provider: 'anthropic', selected_model: 'claude-sonnet-4-5' });
    const wide = await makeKey({ max_output_tokens: 5000 });
    const render = (as: string, more: object): Promise<Answer> => call(as, `${prompts}/${slug}/render`, more);
    expect((await render(wide, {})).body.parameters).toEqual({ max_output_tokens: 5000 });
    const { body } = await render(wide, { provider_options: thinking(2000) });
    expect(body.parameters).toEqual({ max_output_tokens: 3000 });
    const detail = 'With what the model may think, the provider gets 10000 tokens, and this key may have 5000.';
    const { body: impossible } = await render(wide, { provider_options: thinking(5000) });
    expect(impossible.targets[0].unsupported).toEqual([{ member: 'parameters/max_output_tokens', detail }]);
    const refused = await harness.invoke(slug, { provider_options: thinking(5000) }, {}, wide);
    expect([refused.status, refused.body.type]).toEqual([422, problem('unsupported-by-provider')]);
    expect(refused.body.errors).toEqual([{ detail, pointer: '#/parameters/max_output_tokens' }]);
  });

  it('is refused where the provider gets no limit, also if what is unsupported is ignored', async () => {
    const slug = await harness.createPrompt({
      selected_provider: 'amazon-bedrock',
      selected_model: 'us.amazon.nova-2-lite-v1:0',
      provider_options: { 'amazon-bedrock': { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } } },
    });
    for (const unsupported of ['refuse', 'ignore']) {
      const { status, body } = await harness.invoke(slug, { unsupported }, {}, key);
      expect([status, body.type]).toEqual([422, problem('unsupported-by-provider')]);
      expect(body.errors).toMatchObject([{ pointer: '#/parameters/max_output_tokens' }]);
    }
  });
});

describe('a key with requests per minute', () => {
  it('gets 429 above them, with both policies in the headers', async () => {
    const key = await makeKey({ requests_per_minute: 3 });
    const answers: Answer[] = [];
    for (let sent = 0; sent < 4; sent += 1) answers.push(await call(key, prompts));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers.map(({ headers }) => headers['ratelimit-policy'])).toEqual(answers.map(() => '"key";q=3;w=60'));
    expect(answers.map(({ headers }) => headers['ratelimit']?.replace(/t=\d+/, ''))).toEqual(
      [2, 1, 0, 0].map((left) => `"key";r=${left};`),
    );
    const [, , , refused] = answers;
    expect(refused?.body).toMatchObject({
      type: problem('rate-limited'),
      detail: 'This key may send 3 requests in 60 seconds.',
    });
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
    const { headers } = await harness.service.call('GET', prompts);
    expect(headers['ratelimit']).toBeUndefined();
  });

  it('shares them with its sessions, and with all keys that it has led to', async () => {
    const key = await makeKey({ requests_per_minute: 6 });
    const cookie = await cookieFor(harness.service, key);
    expect((await callWith(harness.service, cookie, 'GET', prompts)).headers['ratelimit']).toContain('r=5;');
    const child = await makeKey({ requests_per_minute: 100 }, key);
    const grandchild = await makeKey({ max_output_tokens: 5 }, child);
    expect((await call(grandchild, prompts)).headers['ratelimit-policy']).toBe('"key";q=6;w=60');
    expect((await call(child, prompts)).headers['ratelimit']).toContain('r=1;');
    expect((await call(key, prompts)).headers['ratelimit']).toContain('r=0;');
    const refused = await call(grandchild, prompts);
    expect([refused.status, refused.body.detail]).toEqual([
      429,
      'A key that led to this one, with all keys below it, may send 6 requests in 60 seconds.',
    ]);
    expect((await callWith(harness.service, cookie, 'GET', prompts)).status).toBe(429);
  });
});
