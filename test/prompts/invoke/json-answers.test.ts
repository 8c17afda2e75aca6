import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { callTarget } from '../../../src/prompts/generation/call-target.ts';
import { toWarnings } from '../../../src/prompts/generation/invocation-result.ts';
import { finishOf, type GenerateResult } from '../../../src/models/language-model.ts';
import type { Provider } from '../../../src/models/provider.ts';
import type { Answer } from '../../support/service.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from './invoke-harness.ts';

let harness: InvokeHarness;

beforeAll(async () => {
  harness = await startInvokeHarness();
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
});

const schema = {
  type: 'object',
  properties: { priority: { enum: ['low', 'high'] } },
  required: ['priority'],
  additionalProperties: false,
};
const usage = { inputTokens: 11, outputTokens: 7 };
const called = (): string[] => harness.mock.requests.map(({ model }) => model);

/** Lets the next call for a model answer with a text. */
function say(text: string, finish: 'stop' | 'length' = 'stop', model = 'model-a'): void {
  harness.mock.behave(model, { kind: 'stream', steps: [{ text }, { finish }] });
}
const promptOf = (format: object, fields: object = {}): Promise<string> =>
  harness.createPrompt({ response_format: { type: 'json', ...format }, ...fields });
const invoke = async (prompt: string, cacheControl = 'no-store'): Promise<Answer> =>
  harness.invoke(prompt, {}, { 'Cache-Control': cacheControl });

describe('an answer in JSON', () => {
  it.each([
    ['{"priority": "high"}', { priority: 'high' }],
    [' [1, 2.5, null, true, "x"]\n', [1, 2.5, null, true, 'x']],
    ['null', null],
    ['"text"', 'text'],
  ])('%j is parsed', async (text, object) => {
    say(text);
    const { status, body } = await invoke(await promptOf({}));
    expect([status, body.text, body.object]).toEqual([200, text, object]);
  });

  it('is checked against its schema', async () => {
    say('{"priority": "low"}');
    const { status, body } = await invoke(await promptOf({ schema }));
    expect([status, body.object]).toEqual([200, { priority: 'low' }]);
    expect(body).not.toHaveProperty('warnings');
  });

  it.each([
    ['is not JSON', {}, 'Here you are: {"priority": "low"}'],
    ['is empty', {}, ''],
    ['breaks its schema', { schema }, '{"priority": "urgent"}'],
    ['has more than its schema allows', { schema }, '{"priority": "low", "secret": "for your eyes only"}'],
    ['is nested too deeply', {}, '['.repeat(200) + ']'.repeat(200)],
  ])('is a failure if it %s, and is not asked for again', async (_, format, text) => {
    say(text);
    const answer = await invoke(await promptOf(format));
    expect([answer.status, problemOf(answer)]).toEqual([502, 'provider-bad-answer']);
    const attempts = [
      { provider: 'mock', model: 'model-a', problem: answer.body.type as unknown, usage, may_be_billed: true },
    ];
    expect(answer.body).toMatchObject({ provider: 'mock', model: 'model-a', retryable: false, usage, attempts });
    expect(answer.text).not.toContain('eyes only');
    expect(called()).toEqual(['model-a']);
  });

  it('is asked for again as often as the prompt says, or the request', async () => {
    const calls = async (stored: number, sent?: number): Promise<unknown[]> => {
      harness.mock.reset();
      const prompt = await promptOf({ schema }, { retries: stored });
      for (const text of ['nothing', '{"priority": "urgent"}', '{"priority": "low"}']) say(text);
      const answer = await harness.invoke(prompt, { ...(sent !== undefined && { retries: sent }) });
      const { attempts = [] } = answer.body as { attempts?: { may_be_billed: boolean; usage: unknown }[] };
      expect(attempts.filter((attempt) => attempt.may_be_billed && attempt.usage)).toEqual(attempts);
      return [answer.status, called().length, attempts.length];
    };
    expect(await calls(0)).toEqual([502, 1, 1]);
    expect(await calls(1)).toEqual([502, 2, 2]);
    expect(await calls(2)).toEqual([200, 3, 2]);
    expect(await calls(0, 2)).toEqual([200, 3, 2]);
    expect(await calls(2, 0)).toEqual([502, 1, 1]);
  });

  it('is not asked for again if it is too large', async () => {
    const body = JSON.stringify({ padding: 'x'.repeat(5 * 1024 * 1024) });
    harness.mock.behave('model-a', { kind: 'body', contentType: 'application/json', body });
    const answer = await invoke(await promptOf({ schema }, { retries: 2 }));
    expect([answer.status, called().length]).toEqual([502, 1]);
    expect(answer.body.detail).toBe("The provider's answer is too large.");
  });

  it('is asked for again together with other failures, three times at most', async () => {
    harness.mock.behave('model-a', { kind: 'status', status: 503 });
    for (const text of ['nothing', 'nothing', '{}']) say(text);
    const answer = await invoke(await promptOf({ schema }, { retries: 2 }), 'max-age=60');
    expect([answer.status, called().length]).toEqual([502, 3]);
  });

  it('comes from a fallback if the first one is broken', async () => {
    say('nothing');
    say('{"priority": "low"}', 'stop', 'spare-a');
    const answer = await invoke(await promptOf({ schema }, { fallbacks: [{ provider: 'spare' }] }));
    expect(answer.headers).toMatchObject({ 'x-provider': 'spare' });
    expect(answer.body).toMatchObject({
      object: { priority: 'low' },
      attempts: [{ provider: 'mock', usage, may_be_billed: true }],
    });
    expect(called()).toEqual(['model-a', 'spare-a']);
  });

  it('is passed on as it is if it was cut at a limit', async () => {
    say('{"priority": "lo', 'length');
    const { status, body } = await invoke(await promptOf({ schema }));
    expect([status, body.text, body.finishReason]).toEqual([200, '{"priority": "lo', 'length']);
    expect(body).not.toHaveProperty('object');
  });

  it('may be calls of tools instead', async () => {
    const tools = ['get_weather', 'get_time'].map((name) => ({ name, parameters: { type: 'object' } }));
    const { status, body } = await invoke(await promptOf({ schema }, { selected_model: 'mock-tools', tools }));
    expect([status, body.finishReason]).toEqual([200, 'tool-calls']);
    expect(body).not.toHaveProperty('object');
  });

  it('is only cached if it is valid', async () => {
    const prompt = await promptOf({ schema });
    say('{}');
    expect((await invoke(prompt, 'max-age=60')).status).toBe(502);
    say('{"priority": "low"}');
    const fresh = await invoke(prompt, 'max-age=60');
    expect([fresh.headers['x-cached'], fresh.body.object]).toEqual(['false', { priority: 'low' }]);
    const cached = await invoke(prompt, 'max-age=60');
    expect([cached.headers['x-cached'], { ...cached.body, cost: null }]).toEqual(['true', fresh.body]);
    expect(called()).toHaveLength(2);
  });

  it('is checked in test runs too', async () => {
    say('{}');
    const { body } = await harness.service.call('POST', `/api/v1/prompts/${await promptOf({ schema })}/test`, {
      body: { providers: [{ provider: 'mock' }, { provider: 'echo' }] },
    });
    expect(body.results).toMatchObject([
      { status: 'failed', error: { type: 'urn:prompt-gateway:problem:provider-bad-answer' } },
      { provider: 'echo' },
    ]);
  });
});

describe('the object of an answer', () => {
  const exact = '{"id":12345678901234567890,"size":1e400,"__proto__":{"a":1},"name":"a","pad":"\\ud800"}';
  const warnings = [{ code: 'inexact-number', detail: expect.any(String) }];
  const objectIn = (text: string): string => /"object":(\{.*?"pad":"\\ud800"\})/.exec(text)?.[1] ?? '';

  it('has every number and every member as the text has them', async () => {
    // The same value, in a form that is not compact, and with a name that comes twice.
    say(` {"name": "b", ${exact.slice(1)}\n`);
    const { text, body } = await invoke(await promptOf({}));
    expect(JSON.parse(`{"o":${objectIn(text)}}`)).toEqual({ o: JSON.parse(exact) });
    expect(objectIn(text)).toContain('"id":12345678901234567890,"size":1e400,"__proto__":{"a":1}');
    expect(objectIn(text).match(/"name"/g)).toHaveLength(1);
    expect(body.warnings).toEqual(warnings);
  });

  it.each(['{"a":0.1,"b":1e23,"c":10.0}', '{"a":1.50,"b":9007199254740991}'])(
    'has no warning for numbers that are exact: %s',
    async (text) => {
      say(text);
      const { body } = await invoke(await promptOf({}));
      expect(body.object).toEqual(JSON.parse(text));
      expect(body).not.toHaveProperty('warnings');
    },
  );

  it('is the same from the cache, in a stream, and in a repeated answer', async () => {
    const prompt = await promptOf({ schema: { type: 'object' } });
    say(exact);
    const first = await invoke(prompt, 'max-age=60');
    const cached = await invoke(prompt, 'max-age=60');
    expect([cached.headers['x-cached'], objectIn(cached.text), cached.body.warnings]).toEqual([
      ...['true', objectIn(first.text)],
      warnings,
    ]);
    expect(objectIn(first.text)).toBe(exact);
    say(exact);
    const key = { 'Idempotency-Key': 'exact-stream', 'Cache-Control': 'no-store' };
    const streamed = await harness.invoke(prompt, { stream: true }, key);
    expect(objectIn(streamed.text)).toBe(exact);
    expect(streamed.text).toContain('inexact-number');
    const repeated = await harness.invoke(prompt, { stream: true }, key);
    expect([repeated.headers['idempotency-replayed'], objectIn(repeated.text)]).toEqual(['true', exact]);
  });

  it('is the same in the results of test runs, also of a repeated one', async () => {
    say(exact);
    const request = {
      body: { providers: [{ provider: 'mock' }] },
      headers: { 'Idempotency-Key': 'exact-test-run' },
    };
    const path = `/api/v1/prompts/${await promptOf({})}/test`;
    const first = await harness.service.call('POST', path, request);
    expect([first.status, objectIn(first.text)]).toEqual([201, exact]);
    const repeated = await harness.service.call('POST', path, request);
    expect([repeated.body, objectIn(repeated.text)]).toEqual([first.body, exact]);
    const { id } = first.body as { id: string };
    const { text } = await harness.service.call('GET', `/api/v1/test-runs/${id}/results`);
    expect(objectIn(text)).toBe(exact);
  });

  it('is checked as its schema says, with numbers above all doubles as infinite', async () => {
    const bounded = { schema: { properties: { size: { maximum: 1e308 } } } };
    say(exact);
    expect(problemOf(await invoke(await promptOf(bounded)))).toBe('provider-bad-answer');
  });
});

describe('an answer that could not be read in time', () => {
  it('has no object, and a warning says so', async () => {
    const result: GenerateResult = { content: [{ type: 'text', text: '[1]' }], finishReason: 'stop', usage };
    const provider = {
      id: 'fake',
      models: [],
      embeddingModels: [],
      async *answer(_request, { check, signal }) {
        const checked = await check?.(result, signal);
        if (checked && 'result' in checked) yield { type: 'finish', result: checked.result };
      },
    } as Partial<Provider> as Provider;
    const request = { model: 'any', messages: [], responseFormat: { type: 'json' } } as const;
    const call = { principal: { id: 'key', family: 'key' }, signal: new AbortController().signal, deadline: Infinity };
    const form = { isStreamed: false, isChecked: true };
    const { answer } = await finishOf(
      callTarget({ provider, request }, call, form, {
        metrics: { observeProviderCall: () => undefined },
        checker: { check: async () => ({ status: 'unverified' }) },
      }),
    );
    expect(answer).toEqual({ result: { ...result, isUnverified: true }, latencyMs: expect.any(Number) });
    expect(toWarnings({ unknownVariables: [] }, answer).warnings).toEqual([
      { code: 'unverified-object', detail: 'reading the answer took too long; it may not be JSON' },
    ]);
  });
});
