import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startInvokeHarness, problemOf, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import { readEvents } from '../../support/server-sent-events.ts';
import type { Answer } from '../../support/service.ts';
import { until } from '../../support/until.ts';

let harness: InvokeHarness;
beforeAll(async () => {
  harness = await startInvokeHarness();
});
afterAll(() => harness.close());
beforeEach(() => {
  harness.mock.reset();
});

const path = '/api/v1/invocations';

/** The record of an answer. */
async function recordOf({ headers }: Pick<Answer, 'headers'>): Promise<Answer['body']> {
  const answer = await harness.service.call('GET', `${path}/${headers['x-invocation-id']}`);
  expect(answer.status).toBe(200);
  return answer.body;
}

const usage = { inputTokens: expect.any(Number), outputTokens: expect.any(Number) };
const succeeded = { status: 'succeeded', usage_source: 'provider' };

describe('200', () => {
  it('has who invoked what, and the call that was made', async () => {
    const slug = await harness.createPrompt();
    await harness.service.call('PUT', `/api/v1/prompts/${slug}/labels/production`, { body: { version: 1 } });
    const headers = {
      'X-Tags': 'team=checkout, env=prod,env=test',
      'X-Request-Id': 'request-7',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    };
    const answer = await harness.invoke(slug, { label: 'production' }, headers);
    expect(await recordOf(answer)).toEqual({
      id: answer.headers['x-invocation-id'],
      created_at: expect.any(String),
      operation: 'invoke',
      status: 'succeeded',
      author: { type: 'key', id: expect.any(String), name: expect.any(String) },
      prompt_id: answer.headers['x-prompt-id'],
      prompt_slug: slug,
      prompt_version: 1,
      label: 'production',
      tags: { team: 'checkout', env: 'test' },
      request_id: 'request-7',
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
      streamed: false,
      cached: false,
      provider: 'mock',
      model: 'model-a',
      latency_ms: expect.any(Number),
      finish_reason: 'stop',
      usage: answer.body.usage,
      cost: null,
      attempts: [
        {
          provider: 'mock',
          model: 'model-a',
          ...succeeded,
          started_at: expect.any(String),
          latency_ms: expect.any(Number),
          usage: answer.body.usage,
          cost: null,
          answer_model: 'model-a',
          answer_id: expect.any(String),
        },
      ],
    });
  });

  it('has a stream with the time of its first content, and its id in `start`', async () => {
    const answer = await harness.invoke(await harness.createPrompt(), { stream: true });
    const [start] = readEvents(answer.text).map(({ data }) => JSON.parse(data) as Record<string, unknown>);
    expect(start).toMatchObject({ type: 'start', invocation_id: answer.headers['x-invocation-id'] });
    const record = await recordOf(answer);
    expect(record).toMatchObject({ streamed: true, status: 'succeeded', first_content_ms: expect.any(Number), usage });
    expect(record.attempts).toMatchObject([{ ...succeeded, answer_id: expect.any(String) }]);
  });

  it.each([
    ['chat/completions', 'chat-completion', 'chatcmpl-', { messages: [{ role: 'user', content: 'Hi' }] }],
    ['responses', 'response', 'resp_', { input: 'Hi' }],
  ])(
    'has a request of /v1/%s, whose id it shares, with its metadata as tags',
    async (route, operation, prefix, said) => {
      const body = { model: 'mock/model-a', metadata: { ticket: 'A 4711', 'not a name': 'x' }, ...said };
      const headers = { 'X-Tags': 'team=checkout' };
      const whole = await harness.service.call('POST', `/v1/${route}`, { body, headers });
      const id = String(whole.headers['x-invocation-id']);
      expect(whole.body.id).toBe(prefix + id.replaceAll('-', ''));
      expect(await recordOf(whole)).toMatchObject({
        operation,
        tags: { ticket: 'A 4711', team: 'checkout' },
        attempts: [succeeded],
      });
      const streamed = await harness.service.call('POST', `/v1/${route}`, { body: { ...body, stream: true } });
      expect(await recordOf(streamed)).toMatchObject({ operation, streamed: true, attempts: [succeeded] });
    },
  );

  it('has a request of /v1/messages, whose id it shares, with its tags', async () => {
    const body = { model: 'mock/model-a', max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] };
    const headers = { 'X-Tags': 'team=checkout' };
    const whole = await harness.service.call('POST', '/v1/messages', { body, headers });
    expect(whole.body.id).toBe(`msg_${String(whole.headers['x-invocation-id']).replaceAll('-', '')}`);
    const expected = { operation: 'message', tags: { team: 'checkout' }, attempts: [succeeded] };
    expect(await recordOf(whole)).toMatchObject(expected);
    const streamed = await harness.service.call('POST', '/v1/messages', { body: { ...body, stream: true }, headers });
    expect(await recordOf(streamed)).toMatchObject({ ...expected, streamed: true });
  });

  it('has each call of a test run, under the id in its result', async () => {
    const slug = await harness.createPrompt();
    const providers = [{ provider: 'mock' }, { provider: 'mock', model: 'mock-400' }, { provider: 'echo' }];
    const run = await harness.service.call('POST', `/api/v1/prompts/${slug}/test`, {
      body: { providers },
      headers: { 'X-Tags': 'suite=nightly' },
    });
    const ids = (run.body.results as { invocation_id: string }[]).map(({ invocation_id: id }) => id);
    const records = await Promise.all(ids.map((id) => recordOf({ headers: { 'x-invocation-id': id } })));
    const problem = 'urn:prompt-gateway:problem:provider-failed';
    expect(records).toMatchObject([
      {
        operation: 'test-run',
        status: 'succeeded',
        prompt_slug: slug,
        tags: { suite: 'nightly' },
        attempts: [succeeded],
      },
      { status: 'failed', problem, attempts: [{ status: 'failed', problem }] },
      { status: 'succeeded', provider: 'echo', attempts: [{ provider: 'echo', status: 'succeeded' }] },
    ]);
  });

  it('has the calls before the one that answered, in their order', async () => {
    const slug = await harness.createPrompt({ fallbacks: [{ provider: 'spare' }] });
    harness.mock.behave('model-a', { kind: 'status', status: 500, code: 'server_error' });
    harness.mock.behave('spare-a', { kind: 'status', status: 503 });
    const record = await recordOf(await harness.invoke(slug));
    expect(record).toMatchObject({ status: 'succeeded', provider: 'spare', model: 'spare-a' });
    const problem = 'urn:prompt-gateway:problem:provider-failed';
    expect(record.attempts).toMatchObject([
      {
        ...{ provider: 'mock', status: 'failed', problem, provider_code: 'server_error' },
        detail: expect.stringMatching(/^The provider answered with an error \(status 5\d\d/),
        ...{ provider_status: expect.any(Number), provider_message: expect.any(String) },
      },
      { provider: 'spare', status: 'failed', problem },
      { provider: 'spare', ...succeeded },
    ]);
  });

  it('has a failed invocation with the type of its problem', async () => {
    const answer = await harness.invoke(await harness.createPrompt({ selected_model: 'mock-401' }));
    expect(answer.status).toBe(502);
    const record = await recordOf(answer);
    const problem = 'urn:prompt-gateway:problem:provider-refused-credentials';
    // The words of a provider that refuses credentials contain parts of keys.
    const detail = expect.stringMatching(/^The provider does not accept the configured credentials \(status 401/);
    const failed = { status: 'failed', problem, detail, provider_status: 401 };
    expect(record).toMatchObject({ status: 'failed', problem, attempts: [failed] });
    expect(record.attempts[0]).not.toHaveProperty('provider_message');
    expect(record.usage).toBeUndefined();
  });

  it('has a time-out', async () => {
    const slug = await harness.createPrompt({ selected_model: 'mock-hang' });
    const record = await recordOf(await harness.invoke(slug, {}, { 'X-Timeout-Ms': '2000' }));
    const problem = 'urn:prompt-gateway:problem:provider-timeout';
    expect(record).toMatchObject({ status: 'failed', problem, attempts: [{ status: 'failed', problem }] });
  });

  it('has an answer that breaks its schema as a failed call that was paid for', async () => {
    const slug = await harness.createPrompt({ response_format: { type: 'json' } });
    const record = await recordOf(await harness.invoke(slug));
    const problem = 'urn:prompt-gateway:problem:provider-bad-answer';
    expect(record).toMatchObject({
      status: 'failed',
      problem,
      usage,
      attempts: [{ status: 'failed', problem, usage, detail: "The provider's answer is not JSON at character 1." }],
    });
  });

  it('says of each call where its answer breaks, without its text', async () => {
    const schema = { properties: { priority: { enum: ['low', 'high'] } }, additionalProperties: { type: 'string' } };
    const slug = await harness.createPrompt({ response_format: { type: 'json', schema }, retries: 2 });
    for (const text of ['{"priority": low}', '{"priority": "urgent"}', '{"Ada": 1}']) {
      harness.mock.behave('model-a', { kind: 'stream', steps: [{ text }, { finish: 'stop' }] });
    }
    const answer = await harness.invoke(slug);
    const details = (await recordOf(answer)).attempts.map(({ detail }: { detail: string }) => detail);
    expect(details).toEqual([
      "The provider's answer is not JSON at character 14.",
      'The provider\'s answer does not match the schema at /priority (#/properties/priority/enum: ["low","high"]).',
      'The provider\'s answer does not match the schema at /* (#/additionalProperties/type: "string", not "number").',
    ]);
    expect(answer.body.detail).toBe(details.at(-1));
  });

  it('has a call whose caller leaves before the answer', async () => {
    const slug = await harness.createPrompt({ selected_model: 'mock-hang' });
    const leaving = new AbortController();
    const invoking = harness.invokeUntil(leaving.signal, slug, {}, { 'X-Tags': 'case=left' }).catch(() => undefined);
    await harness.received(1);
    leaving.abort();
    await invoking;
    const record = await found('case=left');
    expect(record).toMatchObject({ status: 'canceled', attempts: [{ status: 'canceled' }] });
  });

  it('has a stream whose caller leaves, with the usage that the provider had mentioned', async () => {
    const slug = await harness.createPrompt({ selected_model: 'mock-drip-20-1000' });
    const leaving = new AbortController();
    const headers = { 'X-Tags': 'case=stream-left' };
    const response = await harness.invokeUntil(leaving.signal, slug, { stream: true }, headers);
    await response.body?.getReader().read();
    leaving.abort();
    const record = await found('case=stream-left');
    expect(record).toMatchObject({
      id: response.headers.get('x-invocation-id'),
      status: 'canceled',
      streamed: true,
      first_content_ms: expect.any(Number),
      attempts: [{ status: 'canceled', latency_ms: expect.any(Number) }],
    });
  });

  it('has a request that was refused before a call', async () => {
    const slug = await harness.createPrompt({ strict: true });
    const refused = await harness.invoke(slug, { variables: { nobody: 'knows' } });
    expect(problemOf(refused)).toBe('unknown-variables');
    expect(await recordOf(refused)).toMatchObject({
      status: 'failed',
      problem: 'urn:prompt-gateway:problem:unknown-variables',
      prompt_slug: slug,
      attempts: [],
    });
    const missing = await harness.invoke('nothing-here');
    expect(await recordOf(missing)).toMatchObject({ problem: 'urn:prompt-gateway:problem:prompt-not-found' });
  });

  it('has an answer from the cache, which cost nothing', async () => {
    const slug = await harness.createPrompt();
    const cached = { 'Cache-Control': 'max-age=3600' };
    const variables = { name: 'cached' };
    await harness.invoke(slug, { variables }, cached);
    const record = await recordOf(await harness.invoke(slug, { variables }, cached));
    expect(record).toMatchObject({ status: 'succeeded', cached: true, provider: 'mock', attempts: [] });
    expect(record.usage).toBeUndefined();
  });

  it('names the invocation whose call another one joined', async () => {
    const slug = await harness.createPrompt({ selected_model: 'mock-held' });
    const headers = { 'Cache-Control': 'max-age=60' };
    const first = harness.invoke(slug, {}, headers);
    await harness.received(1);
    const second = harness.invoke(slug, {}, headers);
    await until(
      () => harness.metric('invoke_cache_total{result="joined"}'),
      (joined) => joined === 1,
    );
    harness.mock.release();
    const [paid, joined] = await Promise.all([recordOf(await first), recordOf(await second)]);
    expect(paid).toMatchObject({ status: 'succeeded', usage, attempts: [succeeded] });
    expect(joined).toMatchObject({ status: 'succeeded', joined: paid.id, attempts: [] });
  });

  it('keeps the call of a caller who leaves, while others wait for it', async () => {
    const slug = await harness.createPrompt({
      selected_model: 'mock-held',
      messages: [{ role: 'user', content: 'B' }],
    });
    const headers = { 'Cache-Control': 'max-age=60' };
    const leaving = new AbortController();
    const first = harness.invokeUntil(leaving.signal, slug, {}, { ...headers, 'X-Tags': 'case=payer' });
    first.catch(() => undefined);
    await harness.received(1);
    const second = harness.invoke(slug, {}, headers);
    await until(
      () => harness.metric('invoke_cache_total{result="joined"}'),
      (joined) => joined === 2,
    );
    const left = 'http_request_duration_seconds_count{operation="invokePrompt",status="499"}';
    const before = await harness.metric(left);
    leaving.abort();
    await until(
      () => harness.metric(left),
      (count) => count === before + 1,
    );
    harness.mock.release();
    const joined = await recordOf(await second);
    expect(joined).toMatchObject({ status: 'succeeded', attempts: [] });
    const paid = await found('case=payer');
    expect(paid).toMatchObject({ id: joined.joined, status: 'canceled', usage, attempts: [succeeded] });
  });

  it('has one record for all answers to an Idempotency-Key', async () => {
    const slug = await harness.createPrompt();
    const headers = { 'Idempotency-Key': 'once', 'X-Tags': 'case=keyed' };
    const first = await harness.invoke(slug, {}, headers);
    const second = await harness.invoke(slug, {}, headers);
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(second.headers['x-invocation-id']).toBe(first.headers['x-invocation-id']);
    const { body } = await harness.service.call('GET', `${path}?tag=case%3Dkeyed`);
    expect(body.data).toHaveLength(1);
  });
});

it('has tags that no metric has', async () => {
  const marked = { 'X-Tags': 'team=a-team-of-its-own' };
  await harness.invoke(await harness.createPrompt(), {}, marked);
  const body = {
    model: 'mock/model-a',
    messages: [{ role: 'user', content: 'Hi' }],
    metadata: { case: 'marked-case' },
  };
  await harness.service.call('POST', '/v1/chat/completions', { body });
  const { text } = await harness.service.call('GET', '/metrics');
  expect(text).toContain('provider="mock",model="model-a"');
  expect(text).not.toMatch(/a-team-of-its-own|marked-case/);
});

/** The only record with a tag, when it is there. */
async function found(tag: string): Promise<Answer['body']> {
  const list = await until(
    () => harness.service.call('GET', `${path}?tag=${encodeURIComponent(tag)}`),
    ({ body }) => body.data.length === 1,
  );
  return list.body.data[0];
}

it.each(['01a1ac1e-0b00-7c53-9b1e-4f0a6d2c8e71', '5d9f1b7e-8c24-4a63-b0f1-9e7d2c6a4f38'])('404: %s', async (id) => {
  const answer = await harness.service.call('GET', `${path}/${id}`);
  expect(problemOf(answer)).toBe('invocation-not-found');
});
