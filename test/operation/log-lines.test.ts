import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../src/observability/logger.ts';
import { openShop, orderBody } from '../orders/orders-harness.ts';
import { startMockProvider, type MockProvider } from '../support/mock-provider.ts';
import { startTestService, type Answer, type CallOptions, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

type Line = Readonly<Record<string, unknown>>;

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

let lines: Line[] = [];
let mock: MockProvider;
let service: TestService;
let promptId: string;
beforeAll(async () => {
  mock = await startMockProvider();
  const providers = [{ id: 'mock', base_url: mock.url, api_key: 'sk-not-secret-here', models: ['model-a'] }];
  service = await startTestService({
    environment: {
      OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify(providers),
      INVOKE_CACHE_MAX_AGE: '60',
      TRUSTED_PROXIES: '127.0.0.1/32',
    },
    log: createLogger('info', { write: (line: string) => void lines.push(JSON.parse(line) as Line) }),
  });
  const body = {
    name: 'Logged',
    messages: [{ role: 'user', content: 'Say {{something}}' }],
    variables: { something: { required: true } },
    selected_provider: 'mock',
  };
  promptId = (await service.call('POST', '/api/v1/prompts', { body })).body.id as string;
});
beforeEach(() => {
  lines = [];
  mock.reset();
});
afterAll(async () => {
  await service.close();
  await mock.close();
});

const requestLines = (): Line[] => lines.filter(({ msg }) => msg === 'request' || msg === 'request failed');

/** Makes a call and returns its log line. */
async function lineOf(method: string, path: string, options?: CallOptions): Promise<Line> {
  await service.call(method, path, options);
  expect(requestLines()).toHaveLength(1);
  return requestLines()[0] ?? {};
}

async function invoke(body: object, headers: Record<string, string> = {}): Promise<Answer> {
  return await service.call('POST', '/api/v1/prompts/logged/invoke', {
    body: { variables: { something: 'nothing' }, ...body },
    headers,
  });
}

describe('the log line of a tool of MCP', () => {
  const call = (name: string, given: object): Promise<Line> =>
    lineOf('POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } },
      headers: { 'MCP-Protocol-Version': '2025-11-25' },
    });

  it('names the operation, and the problem that its result tells', async () => {
    expect(await call('list_prompts', {})).toMatchObject({ level: 'info', status: 200, performed: 'listPrompts' });
    expect(requestLines()[0]).not.toHaveProperty('problem');
    lines = [];
    const failed = { operation: 'sendMcpMessage', status: 200, performed: 'invokePrompt' };
    const line = await call('invoke_prompt', { prompt: 'no-such-prompt' });
    expect(line).toMatchObject({ ...failed, level: 'info', problem: 'prompt-not-found' });
    mock.behave('model-a', { kind: 'status', status: 401 });
    lines = [];
    expect(await call('invoke_prompt', { prompt: 'logged', variables: { something: 'new' } })).toMatchObject({
      ...failed,
      ...{ level: 'warn', problem: 'provider-refused-credentials', provider: 'mock', provider_status: 401 },
    });
  });
});

describe('the log line of a failed invocation', () => {
  it.each([
    ['mock-400', 'provider-failed', 400],
    ['mock-401', 'provider-refused-credentials', 401],
    ['mock-429', 'provider-rate-limited', 429],
    ['mock-500', 'provider-failed', 500],
  ])('names prompt, version, provider, model and what the provider answered (%s)', async (model, problem, status) => {
    await invoke({ model });
    expect(requestLines()).toMatchObject([
      {
        level: 'warn',
        operation: 'invokePrompt',
        status: 502,
        problem,
        prompt: promptId,
        version: 1,
        provider: 'mock',
        model,
        provider_status: status,
      },
    ]);
  });

  it('has the words of the provider, also of one before another is called, with the id of the request', async () => {
    const fallbacks = [{ provider: 'mock', model: 'mock-404' }];
    const answer = await invoke({ model: 'mock-503', fallbacks }, { 'X-Request-Id': 'words-1' });
    const words = expect.stringMatching(/^Refused with .*\[redacted\].* while reading /);
    expect(answer.body).toMatchObject({ provider_status: 404, provider_message: words });
    expect(answer.body.attempts).toMatchObject([{ provider_message: words }, { provider_message: words }]);
    const both = { request_id: 'words-1', provider_message: words };
    expect(lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { msg: 'the next provider is called', provider_status: 503, ...both },
      { msg: 'request', provider_status: 404, ...both },
    ]);
    const compatible = await service.call('POST', '/v1/chat/completions', {
      body: { model: 'mock/mock-404', messages: [{ role: 'user', content: 'Hi' }] },
    });
    expect(compatible.body.error.message).toMatch(/\(status 404.*\)\. The provider says: Refused with /);
  });

  it('names what was known at the time of the failure', async () => {
    await invoke({ variables: {} });
    await invoke({ version: 7 });
    await invoke({ provider: 'unheard-of' });
    expect(requestLines().map(({ problem, prompt, version }) => ({ problem, prompt, version }))).toEqual([
      { problem: 'missing-variables', prompt: promptId, version: 1 },
      { problem: 'version-not-found', prompt: undefined, version: undefined },
      { problem: 'unknown-provider', prompt: promptId, version: 1 },
    ]);
  });

  it('masks a model name that looks like a key', async () => {
    await invoke({ model: 'sk-0123456789abcdef', provider: 'mock' });
    expect(requestLines()[0]?.['model']).toBe('sk-[redacted]');
  });

  it('names the prompt of a refused test run', async () => {
    const body = { providers: [{ provider: 'mock' }] };
    const line = await lineOf('POST', '/api/v1/prompts/logged/test', { body });
    expect(line).toMatchObject({ problem: 'missing-variables', prompt: promptId, version: 1 });
  });
});

describe('the id of an invocation', () => {
  it('is in the line of its request, and in the lines of its failed attempts', async () => {
    const answered = await invoke({});
    const id = answered.headers['x-invocation-id'];
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(requestLines()).toMatchObject([{ status: 200, invocation_id: id }]);
    lines = [];
    const failed = await invoke({ model: 'mock-503', fallbacks: [{ provider: 'mock', model: 'mock-404' }] });
    const both = { invocation_id: failed.headers['x-invocation-id'] };
    expect(lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { msg: 'the next provider is called', ...both },
      { msg: 'request', status: 502, ...both },
    ]);
  });

  it('is in the line of a refused invocation, of a stream, and of a call of the OpenAI-compatible API', async () => {
    const body = { model: 'mock/model-a', messages: [{ role: 'user', content: 'Hi' }] };
    const answers = [
      await invoke({ variables: {} }),
      await invoke({ stream: true }),
      await service.call('POST', '/v1/chat/completions', { body }),
    ];
    const ids = answers.map(({ headers }) => headers['x-invocation-id']);
    expect(new Set(ids).size).toBe(3);
    expect(requestLines().map((line) => line['invocation_id'])).toEqual(ids);
  });

  it('is in the line of a failed call of a test run, with the id of the request', async () => {
    const body = { variables: { something: 'x' }, providers: [{ provider: 'mock', model: 'mock-401' }] };
    const headers = { 'X-Request-Id': 'tested-1' };
    const run = await service.call('POST', '/api/v1/prompts/logged/test', { body, headers });
    const [{ invocation_id }] = run.body.results as [{ invocation_id: string }];
    const failed = lines.filter(({ msg }) => msg === 'a call of a test run failed');
    expect(failed).toMatchObject([{ invocation_id, request_id: 'tested-1' }]);
  });
});

describe('the log line of an order', () => {
  it('has its id', async () => {
    const shop = await openShop(service);
    lines = [];
    const headers = { 'Idempotency-Key': 'logged-order' };
    const placed = await service.call('POST', '/v1/orders', { body: orderBody(shop), headers });
    const { id } = placed.body as { id: string };
    await service.call('POST', '/v1/orders', { body: orderBody(shop), headers });
    await service.call('GET', `/v1/orders/${id}`);
    await service.call('POST', `/v1/orders/${id}/complete`);
    await service.call('POST', `/v1/orders/${id}/cancel`);
    expect(requestLines()).toMatchObject([
      { operation: 'createOrder', status: 201, order_id: id },
      { operation: 'createOrder', status: 201, order_id: id },
      { operation: 'getOrder', status: 200, order_id: id },
      { operation: 'completeOrder', status: 200, order_id: id },
      { operation: 'cancelOrder', status: 409, order_id: id },
    ]);
  });
});

describe('the address of the client', () => {
  it.each([
    ['GET', '/api/v1/prompts'],
    ['GET', '/api/v1/nothing'],
  ])('is in the line, as a trusted proxy says (%s %s)', async (method, path) => {
    await service.call(method, path);
    await service.call(method, path, { headers: { 'X-Forwarded-For': '198.51.100.9, 192.0.2.17' } });
    // The proxy added the last one; its client claims the one before.
    expect(requestLines().map(({ address }) => address)).toEqual(['127.0.0.1', '192.0.2.17']);
  });

  it('is in the line of a call whose caller has left', async () => {
    const leaving = new AbortController();
    const call = fetch(`${service.url}/api/v1/prompts/logged/invoke`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'mock-held', variables: { something: 'x' } }),
      signal: leaving.signal,
    });
    await until(() => mock.requests.length === 1);
    leaving.abort();
    await expect(call).rejects.toThrow();
    await until(() => requestLines().length === 1);
    expect(requestLines()).toMatchObject([{ status: 499, address: '127.0.0.1', invocation_id: expect.any(String) }]);
  });
});

describe('the log line of a change', () => {
  it('names the prompt with its version or label, also of a refused change', async () => {
    const create = { body: { name: 'Changed', messages: [{ role: 'user', content: 'x' }] } };
    const { id } = (await service.call('POST', '/api/v1/prompts', create)).body as { id: string };
    const path = '/api/v1/prompts/changed';
    lines = [];
    await service.call('PUT', path, { body: { messages: [{ role: 'user', content: 'y' }] } });
    await service.call('PUT', path, { body: { name: 'z' }, headers: { 'If-Match': '"old"' } });
    await service.call('PUT', `${path}/labels/production`, { body: { version: 2 } });
    await service.call('PUT', `${path}/labels/production`, { body: { version: 1 } });
    expect(requestLines()).toMatchObject([
      { operation: 'updatePrompt', status: 200, prompt: id, version: 2 },
      { operation: 'updatePrompt', status: 412, prompt: 'changed' },
      { operation: 'setLabel', status: 201, prompt: id, version: 2, label: 'production' },
      { operation: 'setLabel', status: 428, prompt: 'changed', version: 1, label: 'production' },
    ]);
  });
});

describe('the log lines of a test run', () => {
  it('contain, for each failed call, the same as for a failed invocation', async () => {
    const models = ['model-a', 'mock-401', 'mock-429'];
    const body = {
      providers: models.map((model) => ({ provider: 'mock', model })),
      variables: { something: 'nothing' },
    };
    const options = { body, headers: { traceparent } };
    const run = await service.call('POST', '/api/v1/prompts/logged/test', options);
    const same = { test_run: run.body.id as string, prompt: promptId, version: 1, provider: 'mock', traceparent };
    const failed = lines.filter(({ msg }) => msg === 'a call of a test run failed');
    expect(failed).toHaveLength(2);
    expect(failed).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          level: 'warn',
          problem: 'provider-refused-credentials',
          model: 'mock-401',
          provider_status: 401,
          ...same,
        }),
        expect.objectContaining({
          level: 'warn',
          problem: 'provider-rate-limited',
          model: 'mock-429',
          provider_status: 429,
          ...same,
        }),
      ]),
    );
  });
});

describe('the log lines of an evaluation', () => {
  it('say how it ended, and why it was refused', async () => {
    const headers = { 'Content-Type': 'application/x-ndjson' };
    await service.call('PUT', '/api/v1/datasets/logged', { headers, body: '{"variables":{"something":"x"}}' });
    const body = { candidate: {}, dataset: { name: 'logged' }, rule: { all_pass: true } };
    const start = async (more: object): Promise<Line> => {
      const options = { body: { ...body, ...more } };
      const { id } = (await service.call('POST', '/api/v1/prompts/logged/evaluations', options)).body as { id: string };
      return await until(
        () => lines.find((line) => line['evaluation'] === id),
        (line) => line !== undefined,
      ).then((line) => line ?? {});
    };
    expect(await start({})).toMatchObject({
      level: 'warn',
      msg: 'an evaluation was refused',
      problem: 'urn:prompt-gateway:problem:inconsistent-content',
      detail: 'Neither the case nor the evaluation has checks.',
    });
    expect(await start({ checks: [{ type: 'contains', value: 'Hello' }] })).toMatchObject({
      level: 'info',
      msg: 'an evaluation ended',
      ...{ outcome: 'passed', units: 1, errors: 0 },
    });
  });
});

describe('the log line of a refused request', () => {
  it.each([
    ['GET', '/api/v1/prompts', { key: null }, 'unauthenticated'],
    ['GET', '/api/v1/prompts?limit=0', {}, 'invalid-request'],
    ['POST', '/api/v1/prompts', { body: '{' }, 'malformed-body'],
    ['GET', '/api/v1/prompts/absent', {}, 'prompt-not-found'],
  ])('%s %s has the problem type', async (method, path, options, problem) => {
    expect(await lineOf(method, path, options)).toMatchObject({ problem });
  });

  it('has the path if it was not found, or if no operation was reached', async () => {
    expect(await lineOf('GET', '/api/v1/prompts/absent')).toMatchObject({ path: '/api/v1/prompts/absent' });
    lines = [];
    await fetch(`${service.url}/api/v2/prompts`);
    await fetch(`${service.url}/api/v1/prompts`, { method: 'PATCH' });
    expect(requestLines()).toMatchObject([
      { status: 404, problem: 'route-not-found', path: '/api/v2/prompts' },
      { status: 405, problem: 'method-not-allowed', path: '/api/v1/prompts' },
    ]);
  });

  it('has no path if the operation is known', async () => {
    expect(await lineOf('GET', '/api/v1/prompts')).not.toHaveProperty('path');
  });

  it.each([
    ['/nothing?api_key=MARK', '/nothing'],
    ['/nothing%3Fapi_key=MARK', '/nothing'],
    ['/nothing%3fapi_key=MARK', '/nothing'],
    ['/nothing;token=MARK', '/nothing'],
    ['/nothing&token=MARK', '/nothing'],
    ['/token=MARK', '/token'],
    ['/token%3DMARK', '/token'],
    ['/nothing%0d%0alevel:MARK', '/nothing'],
    ['/nothing%00MARK', '/nothing'],
    ['/nothing%1b[31mMARK', '/nothing'],
    ['/nothing"MARK', '/nothing'],
    ['/nothing\\MARK', '/nothing'],
    ['/https://user:MARK@example.com/', '/https://[redacted]@example.com/'],
    ['http://user:MARK@example.com/nothing', '/nothing'],
    ['http://user:MARK@example.com?MARK', ''],
    ['/nothing/pgw_0123456789MARK', '/nothing/pgw_[redacted]'],
    ['/nothing/sk-0123456789MARK', '/nothing/sk-[redacted]'],
    [`/${'a'.repeat(300)}MARK`, `/${'a'.repeat(199)}`],
  ])('shows of the target %j the plain part only', async (target, path) => {
    await sendRaw(`GET ${target} HTTP/1.1`, `Authorization: Bearer ${service.adminKey}`);
    expect(requestLines()).toHaveLength(1);
    expect(requestLines()[0]?.['path'] ?? '').toBe(path);
    expect(JSON.stringify(lines)).not.toContain('MARK');
  });
});

/** Sends a request line unchanged, and waits for the answer. */
async function sendRaw(requestLine: string, ...fields: string[]): Promise<void> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  const head = [requestLine, `Host: ${hostname}`, 'Connection: close', ...fields].join('\r\n');
  socket.write(Buffer.from(`${head}\r\n\r\n`, 'latin1'));
  socket.resume();
  await once(socket, 'close');
}

describe('health probes', () => {
  it.each(['/health/live', '/health/ready'])('%s is not logged when it succeeds', async (path) => {
    await service.call('GET', path, { key: null });
    await service.call('HEAD', path, { key: null, differs: 'head' });
    expect(requestLines()).toEqual([]);
  });

  it('are logged when they are refused', async () => {
    expect(await lineOf('GET', '/health/ready?x=1', { key: null })).toMatchObject({ operation: 'getReadiness' });
  });
});

describe('traceparent', () => {
  it('is in the log line, and is sent to the provider in each attempt', async () => {
    await invoke({ model: 'mock-flaky-1' }, { traceparent });
    expect(requestLines()).toMatchObject([{ status: 200, traceparent }]);
    expect(mock.requests.map(({ headers }) => headers['traceparent'])).toEqual([traceparent, traceparent]);
  });

  it('is sent with a call that other callers may share', async () => {
    await invoke({ variables: { something: 'shared' } }, { traceparent, 'cache-control': 'max-age=60' });
    expect(mock.requests.map(({ headers }) => headers['traceparent'])).toEqual([traceparent]);
  });

  it('is sent with every call of a test run', async () => {
    const body = {
      variables: { something: 'tested' },
      providers: [{ provider: 'mock' }, { provider: 'mock', model: 'mock-400' }],
    };
    await service.call('POST', '/api/v1/prompts/logged/test', { body, headers: { traceparent } });
    expect(mock.requests.map(({ headers }) => headers['traceparent'])).toEqual([traceparent, traceparent]);
  });

  it('is in the log line of requests that reach no operation', async () => {
    await sendRaw('GET /nothing HTTP/1.1', `traceparent: ${traceparent}`);
    expect(requestLines()).toMatchObject([{ status: 404, traceparent }]);
  });

  it.each([
    undefined,
    'MARK',
    traceparent.toUpperCase(),
    traceparent.replace(/^00/, 'ff'),
    traceparent.replace(/-00f0\w+-/, `-${'0'.repeat(16)}-`),
    traceparent.replace(/-4bf9\w+-/, `-${'0'.repeat(32)}-`),
    `${traceparent}-MARK`,
    `${traceparent}, ${traceparent}`,
  ])('that is not well-formed goes nowhere (%s)', async (sent) => {
    await invoke({ variables: { something: sent ?? 'none' } }, sent === undefined ? {} : { traceparent: sent });
    expect(requestLines()).toMatchObject([{ status: 200 }]);
    expect(requestLines()[0]).not.toHaveProperty('traceparent');
    expect(mock.requests.map(({ headers }) => headers['traceparent'])).toEqual([undefined]);
    expect(JSON.stringify(lines)).not.toContain('MARK');
  });
});
