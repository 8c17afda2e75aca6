import { describe, expect, it } from '@jest/globals';
import { problem, problemIn, setUp } from '../../support/per-operation.ts';

const setup = setUp({
  ANTHROPIC_API_KEY: 'sk-do-not-show-0123456789',
  OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([
    { id: 'ollama', base_url: 'http://127.0.0.1:9/v1', models: ['library/llama3.3', 'qwen3'] },
  ]),
  PROVIDER_MODELS: JSON.stringify({ echo: ['echo-embed'] }),
});

interface Model {
  id: string;
  object: string;
  created: number;
  owned_by: string;
}

async function createPrompt(name: string): Promise<string> {
  const body = { name, messages: [{ role: 'user', content: 'Hello' }] };
  return ((await setup.service.call('POST', '/api/v1/prompts', { body })).body as { slug: string }).slug;
}

async function list(key?: string): Promise<Model[]> {
  const { body, status } = await setup.service.call('GET', '/v1/models', key === undefined ? {} : { key });
  expect([status, (body as { object: string }).object]).toEqual([200, 'list']);
  return (body as { data: Model[] }).data;
}

describe('200', () => {
  it('lists the stored prompts, the most recently updated first, then the models of configured providers', async () => {
    const before = Math.floor(Date.now() / 1000);
    const slugs = [await createPrompt('First'), await createPrompt('Second')];
    const models = await list();
    expect(models.slice(0, 2)).toEqual(
      slugs.reverse().map((slug) => ({
        id: `prompt/${slug}`,
        object: 'model',
        owned_by: 'prompt-gateway',
        created: expect.any(Number),
      })),
    );
    expect(models[0]?.created).toBeGreaterThanOrEqual(before);
    const ofProviders = models.slice(2);
    expect(new Set(ofProviders.map(({ owned_by }) => owned_by))).toEqual(new Set(['anthropic', 'echo', 'ollama']));
    expect(ofProviders).toContainEqual({ id: 'ollama/qwen3', object: 'model', created: 0, owned_by: 'ollama' });
    expect(ofProviders.map(({ id }) => id)).toContain('ollama/library/llama3.3');
  });

  it('lists a model once that is in both lists of its provider', async () => {
    const ids = (await list()).map(({ id }) => id);
    expect(ids).toContain('echo/echo-embed');
    expect(ids).toEqual([...new Set(ids)]);
  });

  it('leaves out deleted prompts', async () => {
    const slug = await createPrompt('Doomed');
    await setup.service.call('DELETE', `/api/v1/prompts/${slug}`);
    expect((await list()).map(({ id }) => id)).not.toContain(`prompt/${slug}`);
  });

  it('lists only what the key may use', async () => {
    await createPrompt('Third');
    const owners = async (...scopes: Parameters<typeof setup.service.createKey>): Promise<Set<boolean>> =>
      new Set((await list(await setup.service.createKey(...scopes))).map((one) => one.owned_by === 'prompt-gateway'));
    expect(await owners('prompts:invoke')).toEqual(new Set([true]));
    expect(await owners('providers:invoke')).toEqual(new Set([false]));
    expect(await owners('prompts:read')).toEqual(new Set());
  });
});

it('400: takes no parameters', async () => {
  const { status, body } = await setup.service.call('GET', '/v1/models?offset=3');
  expect([status, body.error]).toEqual([
    400,
    {
      message: 'The parameters of the request are not valid. offset is unknown.',
      type: 'invalid_request_error',
      param: 'offset',
      code: 'invalid-request',
    },
  ]);
});

it('401: needs a key', async () => {
  const { status, body, headers } = await setup.service.call('GET', '/v1/models', { key: null });
  expect([status, body.error]).toMatchObject([401, { type: 'invalid_request_error', code: 'unauthenticated' }]);
  expect(headers).toMatchObject({ 'x-should-retry': 'false', 'www-authenticate': expect.stringContaining('Bearer') });
});

it('406: answers only JSON', async () => {
  const { status, body } = await setup.service.call('GET', '/v1/models', { headers: { Accept: 'text/html' } });
  expect([status, problemIn(body)]).toEqual([406, problem('not-acceptable')]);
});

describe('errors before an operation', () => {
  it.each([
    ['POST', '/v1/models', 405, 'method-not-allowed'],
    ['GET', '/v1/models/', 404, 'route-not-found'],
    ['GET', '/v1/responses/resp_1/input_items', 404, 'route-not-found'],
    ['GET', '/v1/chat/completions/x', 404, 'route-not-found'],
    ['POST', '/v1/completions', 404, 'route-not-found'],
    ['GET', '/v1/files?limit=1', 404, 'route-not-found'],
    ['GET', '/v1', 404, 'route-not-found'],
    ['GET', '/v1/modelsx', 404, 'route-not-found'],
  ])('have the same form: %s %s', async (method, path, expected, code) => {
    const { status, body, headers } = await setup.service.call(method, path);
    expect([status, body]).toEqual([
      expected,
      { error: { message: expect.any(String), type: 'invalid_request_error', param: null, code } },
    ]);
    expect(headers['x-should-retry']).toBe('false');
    if (code === 'route-not-found') expect(body.error.message).toContain('/v1/chat/completions');
  });

  it.each([
    ['GET', '/v1/orders/1/items', 404, 'route-not-found'],
    ['DELETE', '/v1/categories', 405, 'method-not-allowed'],
    ['GET', '/v1/locations/', 404, 'route-not-found'],
    ['POST', '/api/v1/completions', 404, 'route-not-found'],
    ['GET', '/v2/models', 404, 'route-not-found'],
  ])('are problem documents of other APIs: %s %s', async (method, path, expected, type) => {
    const { status, body, headers } = await setup.service.call(method, path);
    expect([status, body.type, headers['content-type']]).toEqual([expected, problem(type), 'application/problem+json']);
  });
});
