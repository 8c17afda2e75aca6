/** The lists of models in Anthropic's form, which is that of callers who send its version. */
import Anthropic from '@anthropic-ai/sdk';
import { expect, it } from '@jest/globals';
import { setUp } from '../../support/per-operation.ts';
import type { Answer } from '../../support/service.ts';

const setup = setUp({
  OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([
    { id: 'local', base_url: 'http://127.0.0.1:9', models: ['a', 'b', 'c'] },
  ]),
});
const headers = { 'anthropic-version': '2023-06-01' };
const get = (path: string): Promise<Answer> => setup.service.call('GET', path, { headers });
const idsOf = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id);

it('lists what the other form lists', async () => {
  const prompt = { name: 'Greeting', messages: [{ role: 'user', content: 'Hello' }] };
  await setup.service.call('POST', '/api/v1/prompts', { body: prompt });
  const { body: other } = await setup.service.call('GET', '/v1/models');
  const answer = await get('/v1/models?limit=1000');
  expect([answer.status, idsOf(answer)]).toEqual([200, idsOf({ body: other } as Answer)]);
  expect(answer.headers['request-id']).toBe(answer.headers['x-request-id']);
  expect(answer.body).toMatchObject({ has_more: false, first_id: 'prompt/greeting', last_id: 'local/c' });
  expect(answer.body.data.at(-1)).toEqual({
    type: 'model',
    id: 'local/c',
    display_name: 'local/c',
    created_at: '1970-01-01T00:00:00.000Z',
    ...{ capabilities: null, line: null, max_input_tokens: null, max_tokens: null },
    ...{ lifecycle: 'active', deprecated_at: null, retires_at: null },
  });
});

it('has pages, forwards and backwards', async () => {
  const whole = idsOf(await get('/v1/models?limit=1000'));
  const first = await get('/v1/models?limit=2');
  expect([idsOf(first), first.body.has_more]).toEqual([whole.slice(0, 2), true]);
  const second = await get(`/v1/models?limit=2&after_id=${encodeURIComponent(first.body.last_id)}`);
  expect(idsOf(second)).toEqual(whole.slice(2, 4));
  const before = await get(`/v1/models?limit=1&before_id=${encodeURIComponent(second.body.first_id)}`);
  expect([idsOf(before), before.body.has_more]).toEqual([whole.slice(1, 2), true]);
  const firstId = encodeURIComponent(whole[0] ?? '');
  for (const query of ['after_id=local%2Fc', 'after_id=nothing', `before_id=${firstId}`, 'before_id=nothing']) {
    const none = await get(`/v1/models?${query}`);
    expect([none.status, none.body]).toEqual([200, { data: [], has_more: false, first_id: null, last_id: null }]);
  }
});

it('gets one model, and its errors have the form', async () => {
  const { status, body } = await get('/v1/models/local/a');
  expect([status, body.type, body.id]).toEqual([200, 'model', 'local/a']);
  const missing = await get('/v1/models/local/nothing');
  expect([missing.status, missing.body]).toMatchObject([404, { type: 'error', error: { type: 'not_found_error' } }]);
  const wrong = await get('/v1/models?limit=0');
  expect([wrong.status, wrong.body]).toMatchObject([400, { type: 'error', error: { code: 'invalid-request' } }]);
});

it('is read by the SDK, page by page', async () => {
  const client = new Anthropic({ baseURL: setup.service.url, apiKey: setup.service.adminKey });
  const ids: string[] = [];
  for await (const { id } of client.models.list({ limit: 2 })) ids.push(id);
  expect(ids).toEqual(idsOf(await get('/v1/models?limit=1000')));
  expect((await client.models.retrieve('local/a')).display_name).toBe('local/a');
});
