import { describe, expect, it } from '@jest/globals';
import { problem, problemIn, setUp } from '../../support/per-operation.ts';
import type { Answer, CallOptions } from '../../support/service.ts';

const setup = setUp();

function get(model: string, options?: CallOptions): Promise<Answer> {
  return setup.service.call('GET', `/v1/models/${encodeURIComponent(model)}`, options);
}

async function createPrompt(): Promise<{ id: string; slug: string }> {
  const body = { name: 'Greeting', messages: [{ role: 'user', content: 'Hello' }] };
  return (await setup.service.call('POST', '/api/v1/prompts', { body })).body as { id: string; slug: string };
}

describe('200', () => {
  it('returns a stored prompt by slug and by id', async () => {
    const { id, slug } = await createPrompt();
    for (const model of [`prompt/${slug}`, `prompt/${id}`]) {
      const { status, body } = await get(model);
      const expected = { id: model, object: 'model', created: expect.any(Number), owned_by: 'prompt-gateway' };
      expect([status, body]).toEqual([200, expected]);
    }
  });

  it('returns a model of a provider', async () => {
    const { status, body } = await get('echo/echo-1');
    expect([status, body]).toEqual([200, { id: 'echo/echo-1', object: 'model', created: 0, owned_by: 'echo' }]);
  });

  it.each(['echo-1', 'echo-embed'])('finds the only configured provider that lists %s', async (model) => {
    const { status, body } = await get(model);
    expect([status, body.id]).toEqual([200, `echo/${model}`]);
  });

  it('accepts a slash as it is', async () => {
    const { status, body } = await setup.service.call('GET', '/v1/models/echo/echo-1');
    expect([status, body.id]).toEqual([200, 'echo/echo-1']);
  });
});

describe('403', () => {
  it.each([
    ['prompt/greeting', 'providers:invoke', 'prompts:invoke'],
    ['echo/echo-1', 'prompts:invoke', 'providers:invoke'],
    ['echo-1', 'prompts:invoke', 'providers:invoke'],
  ] as const)('of %s to a key that only has %s', async (model, scope, needed) => {
    const { status, body, headers } = await get(model, { key: await setup.service.createKey(scope) });
    expect([status, problemIn(body)]).toEqual([403, problem('insufficient-scope')]);
    expect(headers['www-authenticate']).toContain(needed);
  });
});

describe('404', () => {
  it.each(['nothing', 'echo/', '/echo-1', 'echo/no-such-model', 'nobody/echo-1', 'openai/gpt-4.1', 'prompt/a@1'])(
    'model-not-found: %s',
    async (model) => {
      const { status, body } = await get(model);
      expect([status, body.error]).toMatchObject([
        404,
        { type: 'invalid_request_error', param: 'model', code: 'model-not-found' },
      ]);
    },
  );

  it.each([
    [
      'nothing',
      'No configured provider lists the model "nothing". model must name the provider: prompt/<slug> or <provider>/<model>.',
    ],
    ['grok-4.7', 'No configured provider lists the model "grok-4.7". model must name the provider: xai/grok-4.7.'],
    [
      'gpt-4o',
      'No configured provider lists the model "gpt-4o". model must name the provider: openai/gpt-4o or azure/gpt-4o.',
    ],
  ])('says how to write %s', async (model, message) => {
    expect((await get(model)).body.error.message).toBe(message);
  });

  it('prompt-not-found', async () => {
    const { status, body } = await get('prompt/nothing');
    expect([status, problemIn(body)]).toEqual([404, problem('prompt-not-found')]);
  });
});

it('400: the name has only visible characters', async () => {
  const { status, body } = await get('echo/a b');
  expect([status, body.error.param]).toEqual([400, 'model']);
});
