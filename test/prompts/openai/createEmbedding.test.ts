import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startInvokeHarness, type InvokeHarness } from '../invoke/invoke-harness.ts';
import { mockVector } from '../../support/mock-embeddings.ts';
import { problem, problemIn, startAnother } from '../../support/per-operation.ts';
import { until } from '../../support/until.ts';
import type { Answer, CallOptions, TestService } from '../../support/service.ts';

let harness: InvokeHarness;
beforeAll(async () => {
  harness = await startInvokeHarness();
});
afterAll(() => harness.close());
afterEach(() => {
  harness.mock.reset();
});

function create(body: object, options: CallOptions = {}): Promise<Answer> {
  return harness.service.call('POST', '/v1/embeddings', { body, ...options });
}

/** What the provider got. */
function sent(): Record<string, unknown> {
  expect(harness.mock.requests).toHaveLength(1);
  return harness.mock.requests[0]?.body ?? {};
}

/** The record of the invocation of an answer. */
async function recordOf({ headers }: Answer): Promise<Record<string, unknown>> {
  const id = String(headers['x-invocation-id']);
  const { body } = await until(
    () => harness.service.call('GET', `/api/v1/invocations/${id}`),
    ({ status }) => status === 200,
  );
  return body as Record<string, unknown>;
}

const base64Of = (vector: readonly number[]): string =>
  Buffer.from(Float32Array.from(vector).buffer).toString('base64');

describe('200', () => {
  it('answers with the vector of a text, and says what ran', async () => {
    const { status, body, headers } = await create({ model: 'mock/embed-a', input: 'Hello' });
    expect([status, body]).toEqual([
      200,
      {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: mockVector(0) }],
        model: 'mock/embed-a',
        usage: { prompt_tokens: 11, total_tokens: 11 },
      },
    ]);
    expect([headers['x-provider'], headers['x-model']]).toEqual(['mock', 'embed-a']);
    expect(sent()).toEqual({ model: 'embed-a', input: 'Hello' });
  });

  it.each([
    ['texts', ['a', 'ü "quoted" \u2028', 'c']],
    ['tokens of a text', [15339, 1917]],
    ['tokens of texts', [[15339], [1917, 0, 2]]],
    ['a list with one text', ['a']],
  ])('passes on the request as it is: %s', async (_name, input) => {
    const others = { encoding_format: 'base64', dimensions: 7, user: 'customer-4711' };
    const { status, body } = await create({ model: 'mock/embed-a', input, ...others });
    expect(sent()).toEqual({ model: 'embed-a', input, ...others });
    const count = typeof input[0] === 'number' ? 1 : input.length;
    const data = Array.from({ length: count }, (_, index) => base64Of(mockVector(index, 7)));
    expect([status, body.data.map(({ embedding }: { embedding: string }) => embedding)]).toEqual([200, data]);
  });

  it('counts members that are null as left out', async () => {
    const others = { encoding_format: null, dimensions: null, user: null };
    expect((await create({ model: 'mock/embed-a', input: 'a', ...others })).status).toBe(200);
    expect(sent()).toEqual({ model: 'embed-a', input: 'a' });
  });

  it('passes on base64 bit by bit, and numbers as they are', async () => {
    const bits = Buffer.alloc(40);
    // The smallest, the largest, subnormal, and both zeros.
    for (const [index, value] of [1.401298464324817e-45, 3.4028234663852886e38, 1e-40, 0, -0].entries())
      bits.writeFloatLE(value, index * 4);
    for (let index = 5; index < 10; index += 1) bits.writeUInt32LE(0x3e99999a + index * 0x1234567, index * 4);
    const body = (embedding: unknown): string =>
      JSON.stringify({ object: 'list', model: 'x', data: [{ object: 'embedding', index: 0, embedding }] });
    const contentType = 'application/json';
    harness.mock.behave(
      'embed-a',
      { kind: 'body', contentType, body: body(bits.toString('base64')) },
      // As PHP writes slashes.
      { kind: 'body', contentType, body: body(bits.toString('base64')).replaceAll('/', '\\/') },
      { kind: 'body', contentType, body: body([0.1, -1e-7, 123456789.123, 5e-324, 3]) },
      { kind: 'body', contentType, body: body([0.1, -1.5]) },
      { kind: 'body', contentType, body: body(base64Of([0.1, -1.5])) },
    );
    const asked = { model: 'mock/embed-a', input: 'a' };
    const answers: unknown[] = [];
    for (const format of ['base64', 'base64', 'float', 'base64', 'float'])
      answers.push((await create({ ...asked, encoding_format: format })).body.data[0].embedding);
    expect(answers).toEqual([
      bits.toString('base64'),
      bits.toString('base64'),
      [0.1, -1e-7, 123456789.123, 5e-324, 3],
      base64Of([0.1, -1.5]),
      [Math.fround(0.1), -1.5],
    ]);
  });

  it('puts vectors in the order of the inputs', async () => {
    const data = [2, 0, 1].map((index) => ({ object: 'embedding', index, embedding: mockVector(index) }));
    const body = JSON.stringify({ object: 'list', data }, null, 4);
    harness.mock.behave('embed-a', { kind: 'body', contentType: 'application/json', body });
    const answer = await create({ model: 'mock/embed-a', input: ['a', 'b', 'c'] });
    const expected = [0, 1, 2].map((index) => ({ object: 'embedding', index, embedding: mockVector(index) }));
    expect(answer.body.data).toEqual(expected);
  });

  it('finds the only configured provider that lists a model', async () => {
    const { status, body } = await create({ model: 'model-b', input: 'a' });
    expect([status, body.model]).toEqual([200, 'mock/model-b']);
  });

  it('has no usage if the provider gives none, or 0', async () => {
    for (const model of ['mock-nousage', 'embed-zero']) {
      const data = [{ index: 0, embedding: [1] }];
      const body = JSON.stringify({ data, usage: { prompt_tokens: 0, total_tokens: 0 } });
      harness.mock.behave('embed-zero', { kind: 'body', contentType: 'application/json', body });
      const answer = await create({ model: `mock/${model}`, input: 'Hello' });
      expect(answer.status).toBe(200);
      expect(answer.body).not.toHaveProperty('usage');
      const record = await recordOf(answer);
      expect(record).toMatchObject({ status: 'succeeded', attempts: [{ usage_source: 'ceiling' }] });
    }
  });

  it('is an invocation in the log, with its tags and what it cost', async () => {
    await harness.service.call('PUT', '/api/v1/prices/mock/embed-a', {
      body: { rates: [{ input: '2', output: '9' }] },
    });
    const answer = await create({ model: 'mock/embed-a', input: 'Hello' }, { headers: { 'X-Tags': 'team=search' } });
    expect(await recordOf(answer)).toMatchObject({
      operation: 'embedding',
      status: 'succeeded',
      streamed: false,
      tags: { team: 'search' },
      usage: { inputTokens: 11, outputTokens: 0 },
      cost: { amount: '0.000022', currency: 'USD' },
      attempts: [{ provider: 'mock', model: 'embed-a', status: 'succeeded', answer_model: 'embed-a' }],
    });
  });

  it('needs no provider with echo: texts with the same words are near one another', async () => {
    const input = ['The printer is out of paper.', 'the paper of the printer', 'Invoices are sent monthly'];
    const { status, body } = await create({ model: 'echo/echo-embed', input, dimensions: 256 });
    const [one, other, far] = body.data.map(({ embedding }: { embedding: number[] }) => embedding) as [
      ...[number[], number[], number[]],
    ];
    const near = (left: number[], right: number[]): number =>
      left.reduce((sum, number, index) => sum + number * (right[index] ?? 0), 0);
    expect([status, one.length]).toEqual([200, 256]);
    expect(near(one, one)).toBeCloseTo(1);
    expect(near(one, other)).toBeGreaterThan(near(one, far) + 0.3);
    const tokens = await create({ model: 'echo/echo-embed', input: [1, 2, 3] });
    expect(tokens.body.data[0].embedding).toHaveLength(64);
    expect(tokens.body.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
  });

  it.each([
    ['case', 'Über 12 ÉCOLES', 'über 12 écoles', 3],
    ['signs', '-- one, two\n(THREE)', 'one two three', 3],
    ['characters of two units', '𝒳𐐀 😀x', '𝒳𐐨 x', 2],
    ['a word longer than what is read at once', `${'x'.repeat(100_000)} y`, `${'X'.repeat(100_000)}. Y`, 2],
    ['nothing but signs', '😀 ...', '!', 0],
  ])('echo compares and counts words: %s', async (_name, one, other, count) => {
    const answers = await Promise.all([one, other].map((input) => create({ model: 'echo/echo-embed', input })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[0]?.body.data).toEqual(answers[1]?.body.data);
    expect(answers[0]?.body.data[0].embedding.some((number: number) => number !== 0)).toBe(count > 0);
    for (const { body } of answers) expect(body.usage).toEqual({ prompt_tokens: count, total_tokens: count });
  });

  it('is repeated after what was surely not billed', async () => {
    const { status } = await create({ model: 'mock/mock-flaky-1', input: 'a' });
    expect([status, harness.mock.requests.length]).toEqual([200, 2]);
  });
});

describe('400', () => {
  it.each([
    ['input', { input: '' }],
    ['input', { input: [] }],
    ['input', { input: ['a', ''] }],
    ['input', { input: ['a', 1] }],
    ['input', { input: [[1], 'a'] }],
    ['input', { input: [1.5] }],
    ['input', { input: [-1] }],
    ['input', { input: Array.from({ length: 2_049 }, () => 'a') }],
    ['input', {}],
    ['model', { input: 'a', model: '' }],
    ['dimensions', { input: 'a', dimensions: 0 }],
    ['dimensions', { input: 'a', dimensions: 4_097 }],
    ['encoding_format', { input: 'a', encoding_format: 'ubinary' }],
    ['input_type', { input: 'a', input_type: 'query' }],
  ])('invalid-request: %s (%j)', async (param, members) => {
    const { status, body } = await create({ model: 'mock/embed-a', ...members });
    expect([status, body.error.code]).toEqual([400, 'invalid-request']);
    expect(body.error.param).toMatch(new RegExp(`^${param}(\\[|$)`));
    expect(harness.mock.requests).toHaveLength(0);
  });

  it('takes as many tokens as a call has, and not more', async () => {
    const list = (length: number): number[] => Array.from({ length }, (_, index) => index);
    const most = Array.from({ length: 300 }, () => list(1_000));
    expect((await create({ model: 'mock/embed-a', input: most })).status).toBe(200);
    const { status, body } = await create({ model: 'mock/embed-a', input: [...most, list(100_001)] });
    expect([status, body.error.code]).toEqual([400, 'malformed-body']);
  });
});

describe('402', () => {
  it('budget-exceeded and cost-unknown', async () => {
    const { service } = harness;
    const rates = [{ input: '999999', output: '0' }];
    const price = await service.call('PUT', '/api/v1/prices/mock/embed-dear', { body: { rates } });
    const limit = { limit: { amount: '1', currency: 'USD' }, period: 'day', scope: { tag: 'team=limited' } };
    const budget = await service.call('PUT', '/api/v1/budgets/embeddings', { body: limit });
    expect([price.status, budget.status]).toEqual([201, 201]);
    const { body: made } = await service.call('POST', '/api/v1/api-keys', {
      body: { name: 'limited', scopes: ['providers:invoke'], limits: { tags: { team: 'limited' } } },
    });
    const ask = (model: string): Promise<Answer> =>
      create({ model: `mock/${model}`, input: 'Hello' }, { key: String(made.key) });
    const dear = await ask('embed-dear');
    expect([dear.status, problemIn(dear.body)]).toEqual([402, problem('budget-exceeded')]);
    const unknown = await ask('embed-unpriced');
    expect([unknown.status, problemIn(unknown.body)]).toEqual([402, problem('cost-unknown')]);
  });
});

describe('403', () => {
  it('beyond-limits: a model that the key may not use', async () => {
    const { body } = await harness.service.call('POST', '/api/v1/api-keys', {
      body: { name: 'search', scopes: ['providers:invoke'], limits: { models: ['mock/embed-*'] } },
    });
    const key = String(body.key);
    expect((await create({ model: 'mock/embed-b', input: 'a' }, { key })).status).toBe(200);
    harness.mock.reset();
    const { status, body: refused } = await create({ model: 'mock/model-a', input: 'a' }, { key });
    expect([status, problemIn(refused)]).toEqual([403, problem('beyond-limits')]);
    expect(harness.mock.requests).toHaveLength(0);
  });
});

describe('404', () => {
  it.each([
    ['a model that no provider lists', 'text-embedding-3-small'],
    ['an unknown provider', 'nobody/embed'],
    ['a prompt', 'prompt/greeting'],
  ])('model-not-found: %s', async (_name, model) => {
    const { status, body } = await create({ model, input: 'a' });
    expect([status, body.error]).toMatchObject([404, { code: 'model-not-found', param: 'model' }]);
  });

  it('the provider has no such model', async () => {
    const { status, headers } = await create({ model: 'mock/mock-404', input: 'a' });
    expect([status, headers['x-provider-status']]).toEqual([404, '404']);
  });
});

describe('422', () => {
  it('provider-not-configured', async () => {
    const { status, body } = await create({ model: 'openai/text-embedding-3-small', input: 'a' });
    expect([status, body.error]).toMatchObject([422, { code: 'provider-not-configured', param: 'model' }]);
  });
});

describe('what a provider says to the caller', () => {
  it('429 provider-rate-limited', async () => {
    const { status, body, headers } = await create({ model: 'mock/mock-429-300', input: 'a' });
    expect([status, body.error.code, headers['retry-after']]).toEqual([429, 'provider-rate-limited', '300']);
  });

  it('400 without the texts of the request', async () => {
    const { status, body, text } = await create({ model: 'mock/mock-400', input: ['the merger with Initech is on'] });
    expect([status, body.error.type]).toEqual([400, 'invalid_request_error']);
    expect(text).not.toContain('Initech');
  });
});

describe('502', () => {
  const wrong = (data: string, more = ''): string => `{"object":"list","data":[${data}]${more}}`;
  const item = (embedding: string, index = 0): string => `{"index":${index},"embedding":${embedding}}`;
  const zeros = (count: number): string => `[${Array.from({ length: count }, () => '0').join(',')}]`;
  const usage = ',"usage":{"prompt_tokens":5,"total_tokens":5}';
  it.each([
    ['no vector', wrong('')],
    ['too few', wrong(item('[1,2]'), usage)],
    ['too many', wrong([0, 1, 2].map((index) => item('[1,2]', index)).join(','), usage)],
    ['very many', wrong(Array.from({ length: 9 }, (_, index) => item('[1,2]', index)).join(','))],
    ['two of one input', wrong(`${item('[1,2]')},${item('[1,2]')}`)],
    ['an index beyond', wrong(`${item('[1,2]')},${item('[1,2]', 2)}`)],
    ['an index that is no number', wrong(`${item('[1,2]')},{"index":"a","embedding":[1,2]}`)],
    ['an index below', wrong(`${item('[1,2]', 1)},${item('[1,2]', -1)}`)],
    ['an index between two inputs', wrong(`${item('[1,2]', 1)},${item('[1,2]', 0.5)}`)],
    ['a very large index', wrong(`${item('[1,2]', 1)},${item('[1,2]', 1e9)}`)],
    ['different lengths', wrong(`${item('[1,2]')},${item('[1]', 1)}`, usage)],
    ['none', wrong(`${item('[]')},${item('[]', 1)}`)],
    ['NaN', wrong(`${item('[1,NaN]')},${item('[1,2]', 1)}`)],
    ['null', wrong(`${item('[1,null]')},${item('[1,2]', 1)}`)],
    ['a text', wrong(`${item('[1,"2"]')},${item('[1,2]', 1)}`)],
    ['a list', wrong(`${item('[1,[2]]')},${item('[1,2]', 1)}`)],
    ['beyond a double', wrong(`${item('[1,1e999]')},${item('[1,2]', 1)}`)],
    ['beyond a float', wrong(`${item('[1,1e300]')},${item('[1,2]', 1)}`)],
    ['two commas', wrong(`${item('[1,,2]')},${item('[1,2]', 1)}`)],
    ['a comma at the end', wrong(`${item('[1,2,]')},${item('[1,2]', 1)}`)],
    ['a number without end', wrong(`${item(`[1,0.${'1'.repeat(2_000)}`)}`)],
    ['a number that is none', wrong(`${item('[01,2]')},${item('[1,2]', 1)}`)],
    ['not base64', wrong(`${item('"not base64!"')},${item('[1,2]', 1)}`)],
    ['base64 of half a float', wrong(`${item('"AAAA"')},${item('[1,2]', 1)}`)],
    ['NaN in base64', wrong(`${item('"AADAfwAAwH8="')},${item('[1,2]', 1)}`)],
    ['too long', wrong(`${item(zeros(4_097))},${item('[1]', 1)}`)],
    ['too long in base64', wrong(`${item(`"${Buffer.alloc(4 * 4_097).toString('base64')}"`)},${item('[1]', 1)}`)],
    ['base64 without end', wrong(item(`"${'A'.repeat(300_000)}`))],
    ['much besides', `{"data":[],"more":"${'x'.repeat(5 * 1024 * 1024)}"}`],
    ['half an answer', wrong(item('[1,2'))],
    ['a web page', '<html>Bad gateway</html>'],
  ])('provider-bad-answer: %s', async (_name, body) => {
    harness.mock.behave('embed-a', { kind: 'body', contentType: 'application/json', body });
    const answer = await create({ model: 'mock/embed-a', input: ['a', 'b'] });
    expect([answer.status, answer.body.error.code]).toEqual([502, 'provider-bad-answer']);
    expect(answer.headers['x-should-retry']).toBe('false');
    expect(harness.mock.requests).toHaveLength(1);
    const isCounted = body.includes(usage);
    const usageSource = isCounted ? 'provider' : expect.any(String);
    expect(await recordOf(answer)).toMatchObject({
      status: 'failed',
      attempts: [{ status: 'failed', usage_source: usageSource }],
    });
    // Its provider has done its part, and charges for it.
    if (isCounted) expect(answer.body.error.usage).toEqual({ input_tokens: 5, output_tokens: 0 });
  });

  it('provider-bad-answer: another length than the request wants', async () => {
    const data = [{ index: 0, embedding: [1, 2] }];
    const body = JSON.stringify({ data });
    harness.mock.behave('embed-a', { kind: 'body', contentType: 'application/json', body });
    const answer = await create({ model: 'mock/embed-a', input: 'a', dimensions: 3 });
    expect([answer.status, answer.body.error.code]).toEqual([502, 'provider-bad-answer']);
    expect(answer.body.error.message).toBe("The provider's answer has a vector of 2 numbers in place of 3.");
  });

  it('provider-bad-answer: more vectors than there is memory for are not read', async () => {
    const body = wrong([0, 1, 2, 3].map((index) => item('[1,2]', index)).join(','), usage);
    harness.mock.behave('embed-a', { kind: 'body', contentType: 'application/json', body });
    const answer = await create({ model: 'mock/embed-a', input: ['a', 'b'] });
    expect([answer.status, answer.body.error.message]).toEqual([502, "The provider's answer has too many vectors."]);
  });

  it.each([
    ['provider-failed', 'mock-500'],
    ['provider-refused-credentials', 'mock-401'],
    ['provider-bad-answer', 'mock-garbage'],
    ['provider-bad-answer', 'mock-cut'],
    ['provider-bad-answer', 'mock-partial'],
    ['provider-bad-answer', 'mock-endless'],
  ])('%s of %s', async (code, model) => {
    const { status, body } = await create({ model: `mock/${model}`, input: 'a' });
    expect([status, body.error]).toMatchObject([502, { type: 'server_error', code }]);
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('provider-timeout', async () => {
    const provider = { id: 'other', base_url: harness.mock.url, models: ['embed-a'] };
    const other: TestService = await startAnother(harness.service, {
      INVOKE_TIMEOUT_MS: '500',
      OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]),
    });
    try {
      // The first call loads the provider's package, which can take longer than the deadline.
      await other.call('POST', '/v1/embeddings', { body: { model: 'other/embed-a', input: 'a' } });
      for (const model of ['mock-hang', 'mock-stall']) {
        harness.mock.reset();
        const body = { model: `other/${model}`, input: 'a' };
        const answer = await other.call('POST', '/v1/embeddings', { body });
        expect([model, answer.status, answer.body.error.code]).toEqual([model, 502, 'provider-timeout']);
        expect(harness.mock.requests).toHaveLength(1);
      }
    } finally {
      await other.close();
    }
  });
});

it('ends the call of a caller that leaves', async () => {
  const leaving = new AbortController();
  const { service, mock } = harness;
  const asked = fetch(`${service.url}/v1/embeddings`, {
    method: 'POST',
    body: JSON.stringify({ model: 'mock/mock-hang', input: 'a' }),
    headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json' },
    signal: leaving.signal,
  });
  const request = await harness.received(1);
  leaving.abort();
  await expect(asked).rejects.toThrow();
  await request.ended;
  expect(mock.requests).toMatchObject([{ aborted: true }]);
});
