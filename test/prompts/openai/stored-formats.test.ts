import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { problemOf, startInvokeHarness, type InvokeHarness } from '../invoke/invoke-harness.ts';
import type { Answer } from '../../support/service.ts';

let harness: InvokeHarness;
beforeAll(async () => {
  harness = await startInvokeHarness();
});
afterAll(() => harness.close());
afterEach(() => {
  harness.mock.reset();
});

const schema = {
  type: 'object',
  properties: { priority: { enum: ['low', 'high'] } },
  required: ['priority'],
  additionalProperties: false,
};
const good = '{"priority": "low"}';
const broken = '{"nope":1}';
const usage = { input_tokens: 11, output_tokens: 7 };

const storedPrompt = (fields: object = {}): Promise<string> =>
  harness.createPrompt({ response_format: { type: 'json', schema }, ...fields });

/** Lets the next call for a model answer with a text. */
function say(text: string, model = 'model-a'): void {
  harness.mock.behave(model, { kind: 'stream', steps: [{ text }, { finish: 'stop' }] });
}

/** The data of the events. */
function eventsOf({ text }: Answer): Record<string, unknown>[] {
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Record<string, unknown>);
}

const chat = (slug: string, body: object = {}): Promise<Answer> =>
  harness.service.call('POST', '/v1/chat/completions', {
    body: { model: `prompt/${slug}`, messages: [{ role: 'user', content: 'x' }], ...body },
  });
const respond = (slug: string, body: object = {}): Promise<Answer> =>
  harness.service.call('POST', '/v1/responses', { body: { prompt: { id: slug }, input: 'x', ...body } });

const endpoints = [
  {
    name: 'chat completions',
    create: chat,
    ownFormat: { response_format: { type: 'json_schema', json_schema: { name: 'own', schema } } },
    noFormat: { response_format: { type: 'text' } },
    textOf: ({ body }: Answer): unknown => body.choices?.[0].message.content,
  },
  {
    name: 'responses',
    create: respond,
    ownFormat: { text: { format: { type: 'json_schema', name: 'own', schema } } },
    noFormat: { text: { format: { type: 'text' } } },
    textOf: ({ body }: Answer): unknown => body.output?.[0].content[0].text,
  },
];

describe.each(endpoints)('the format of a stored prompt in $name', ({ create, ownFormat, noFormat, textOf }) => {
  it('is kept as in an invocation', async () => {
    const slug = await storedPrompt();
    say(good);
    const kept = await create(slug);
    expect([kept.status, textOf(kept)]).toEqual([200, good]);
    say(broken);
    const { status, body, headers } = await create(slug);
    expect([status, headers['x-should-retry']]).toEqual([502, 'false']);
    expect(body.error).toMatchObject({ type: 'server_error', code: 'provider-bad-answer', usage });
    expect(body.error.message).toContain('does not match the schema');
    say(broken);
    expect(problemOf(await harness.invoke(slug))).toBe('provider-bad-answer');
    expect(harness.mock.requests).toHaveLength(3);
  });

  it('is asked of the fallbacks first', async () => {
    const slug = await storedPrompt({ fallbacks: [{ provider: 'spare' }] });
    say('nothing');
    say(good, 'spare-a');
    const answer = await create(slug);
    expect([answer.status, answer.body.model, textOf(answer)]).toEqual([200, 'spare/spare-a', good]);
  });

  it('is not kept by an answer that is cut', async () => {
    harness.mock.behave('model-a', { kind: 'stream', steps: [{ text: '{"pri' }, { finish: 'length' }] });
    const answer = await create(await storedPrompt());
    expect([answer.status, textOf(answer)]).toEqual([200, '{"pri']);
  });

  it('is replaced by the format of the request, which is passed on without a check', async () => {
    const slug = await storedPrompt();
    for (const format of [ownFormat, noFormat]) {
      say(broken);
      const answer = await create(slug, format);
      expect([answer.status, textOf(answer)]).toEqual([200, broken]);
    }
  });
});

describe('a stream that breaks the format of its stored prompt', () => {
  it('ends with an error in chat completions', async () => {
    say(broken);
    const answer = await chat(await storedPrompt(), { stream: true });
    expect(answer.status).toBe(200);
    expect(eventsOf(answer).at(-1)).toMatchObject({ error: { code: 'provider-bad-answer', usage } });
    expect(answer.text).not.toContain('[DONE]');
  });

  it('ends with error and response.failed in responses', async () => {
    say(broken);
    const answer = await respond(await storedPrompt(), { stream: true });
    expect(eventsOf(answer).slice(-2)).toMatchObject([
      { type: 'error', code: 'provider-bad-answer' },
      { type: 'response.failed', response: { status: 'failed', usage } },
    ]);
  });

  it('is complete if it keeps the format', async () => {
    const slug = await storedPrompt();
    say(good);
    expect((await chat(slug, { stream: true })).text).toContain('[DONE]');
    say(good);
    expect(eventsOf(await respond(slug, { stream: true })).at(-1)).toMatchObject({ type: 'response.completed' });
  });
});
