import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startInvokeHarness, type InvokeHarness } from '../invoke/invoke-harness.ts';
import { problem } from '../../support/per-operation.ts';
import { until } from '../../support/until.ts';
import type { Answer, CallOptions } from '../../support/service.ts';
import { jsonOf, meta, send, sendOlder } from './mcp-harness.ts';

let harness: InvokeHarness;
beforeAll(async () => {
  harness = await startInvokeHarness({ environment: { CORS_ORIGINS: 'https://editor.example.com' } });
});
afterAll(() => harness.close());
afterEach(() => {
  harness.mock.reset();
});

const mcp = (method: string, params?: Record<string, unknown>, options?: CallOptions): Promise<Answer> =>
  send(harness.service, method, params, options);
const older = (method: string, params?: Record<string, unknown>, options?: CallOptions): Promise<Answer> =>
  sendOlder(harness.service, method, params, options);
const callTool = (name: string, args: object = {}, options?: CallOptions): Promise<Answer> =>
  mcp('tools/call', { name, arguments: args }, options);

async function createPrompt(fields: Record<string, unknown>): Promise<string> {
  return await harness.createPrompt({ description: 'Greets somebody.', ...fields });
}

async function listPrompts(options?: CallOptions): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  let cursor: string | undefined;
  do {
    const { status, body } = await mcp('prompts/list', cursor === undefined ? {} : { cursor }, options);
    expect(status).toBe(200);
    all.push(...body.result.prompts);
    cursor = body.result.nextCursor;
  } while (cursor !== undefined);
  return all;
}

describe('200', () => {
  it('says what the service is', async () => {
    const { status, body } = await mcp('server/discover');
    expect([status, body.id]).toEqual([200, 1]);
    expect(body.result).toMatchObject({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {}, prompts: {} },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'prompt-gateway' } },
    });
  });

  it('lists the tools of the scopes of a key, for a time and for nobody else', async () => {
    const { body } = await mcp('tools/list');
    expect(body.result).toMatchObject({ cacheScope: 'private', ttlMs: 30_000 });
    const names = (answer: Answer): string[] =>
      (answer.body.result.tools as { name: string }[]).map(({ name }) => name);
    expect(names(await mcp('tools/list'))).toEqual([
      ...['list_prompts', 'get_prompt', 'render_prompt', 'invoke_prompt', 'create_prompt_version'],
      ...['list_invocations', 'get_costs'],
    ]);
    const reader = await harness.service.createKey('prompts:read');
    expect(names(await mcp('tools/list', {}, { key: reader }))).toEqual(['list_prompts', 'get_prompt']);
    const other = await harness.service.createKey('metrics:read');
    expect(names(await mcp('tools/list', {}, { key: other }))).toEqual([]);
    expect((await mcp('prompts/list', {}, { key: other })).status).toBe(404);
    const { body: refused } = await callTool('list_prompts', {}, { key: other });
    expect(refused.error).toMatchObject({ code: -32_602, message: 'There is no tool "list_prompts".' });
  });

  it('lists prompts that have a description, with the arguments of the released version', async () => {
    const slug = await createPrompt({
      name: 'Sorter \u001b[31m\u202eof\u0007 tickets',
      description: 'Sorts\u0000 tickets.\nBy \u2066urgency\u2069.',
      messages: [{ role: 'user', content: 'Sort {{ticket}} for {{team|support}}' }],
      variables: { ticket: { description: 'What the customer\u0007 wrote.', required: true } },
      tools: [{ name: 'find_order', parameters: { type: 'object' } }],
      response_format: { type: 'json', schema: { type: 'object' } },
    });
    await harness.createPrompt({ name: 'Without a description' });
    const found = async (): Promise<Record<string, unknown> | undefined> =>
      (await listPrompts()).find(({ name }) => name === slug);
    const entry = {
      name: slug,
      title: 'Sorter [31mof tickets',
      description: 'Sorts tickets.\nBy urgency.\n\nIt uses the tools find_order.\n\nIt asks for an answer in JSON.',
      arguments: [
        { name: 'ticket', description: 'What the customer wrote.', required: true },
        { name: 'team', required: false },
      ],
    };
    expect(await found()).toEqual(entry);
    expect((await listPrompts()).map(({ title }) => title as string)).not.toContain('Without a description');
    const path = `/api/v1/prompts/${slug}`;
    const label = { body: { version: 1 }, headers: { 'If-None-Match': '*' } };
    await harness.service.call('PUT', `${path}/labels/production`, label);
    await harness.service.call('PUT', path, { body: { messages: [{ role: 'user', content: '{{other}}' }] } });
    expect(await found()).toEqual(entry);
  });

  it('fills in the arguments of the released version', async () => {
    const image = 'data:image/png;base64,iVBORw0KGgo=';
    const slug = await createPrompt({
      messages: [
        { role: 'system', content: 'Be {{tone|kind}}.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Who is {{name}}?' },
            { type: 'image', url: image },
          ],
        },
        { role: 'assistant', content: 'Ada.' },
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'image', url: 'https://images.example.com/a.png' }] },
      ],
    });
    const path = `/api/v1/prompts/${slug}`;
    const label = { body: { version: 1 }, headers: { 'If-None-Match': '*' } };
    await harness.service.call('PUT', `${path}/labels/production`, label);
    await harness.service.call('PUT', path, { body: { messages: [{ role: 'user', content: 'New' }] } });
    const { status, body } = await mcp('prompts/get', { name: slug, arguments: { name: '{{Ada}}' } });
    expect([status, body.result.messages]).toEqual([
      200,
      [
        {
          role: 'user',
          content: { type: 'text', text: 'This is the system message of the prompt:\n\nBe kind.\n\nBe brief.' },
        },
        { role: 'user', content: { type: 'text', text: 'Who is {{Ada}}?' } },
        { role: 'user', content: { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' } },
        { role: 'assistant', content: { type: 'text', text: 'Ada.' } },
        { role: 'user', content: { type: 'resource_link', uri: 'https://images.example.com/a.png', name: 'image' } },
      ],
    ]);
    const latest = await createPrompt({ messages: [{ role: 'user', content: 'Hi' }] });
    expect((await mcp('prompts/get', { name: latest })).body.result).toMatchObject({ description: 'Greets somebody.' });
  });

  it('says which arguments are missing, and which prompts there are not', async () => {
    const slug = await createPrompt({ messages: [{ role: 'user', content: '{{name}}' }] });
    const undescribed = await harness.createPrompt();
    for (const [name, type] of [
      [slug, 'missing-variables'],
      [undescribed, 'prompt-not-found'],
      ['nothing', 'prompt-not-found'],
    ]) {
      const { status, body } = await mcp('prompts/get', { name });
      expect([status, body.error.code, body.error.data.type]).toEqual([200, -32_602, problem(String(type))]);
    }
    const { body } = await mcp('prompts/list', { cursor: 'nonsense' });
    expect(body.error).toMatchObject({ code: -32_602, data: { type: problem('invalid-request') } });
  });

  it('has pages that agree, also if few prompts have a description', async () => {
    const names = Array.from({ length: 130 }, (_, index) => `paged-${String(index).padStart(3, '0')}`);
    for (const slug of names)
      await createPrompt({ name: 'Paged', slug, ...(slug.endsWith('7') ? {} : { description: undefined }) });
    const listed = (await listPrompts()).map(({ name }) => name as string).filter((name) => name.startsWith('paged-'));
    expect(listed.toSorted()).toEqual(names.filter((name) => name.endsWith('7')));
    const first = await mcp('prompts/list');
    expect(first.body.result).toMatchObject({ cacheScope: 'private', ttlMs: 30_000 });
  });

  it('shows a key that is limited to some prompts only those', async () => {
    const slug = await createPrompt({ name: 'Only one' });
    const { body: prompt } = await harness.service.call('GET', `/api/v1/prompts/${slug}`);
    const { body: made } = await harness.service.call('POST', '/api/v1/api-keys', {
      body: { name: 'one', scopes: ['prompts:read', 'prompts:invoke'], limits: { prompts: [prompt.id] } },
    });
    const key = String(made.key);
    const other = await createPrompt({ name: 'Another' });
    expect((await listPrompts({ key })).map(({ name }) => name as string)).toEqual([slug]);
    expect((await mcp('prompts/get', { name: other }, { key })).body.error.code).toBe(-32_602);
    expect(jsonOf(await callTool('list_prompts', {}, { key }))['data']).toHaveLength(1);
    for (const tool of ['get_prompt', 'render_prompt', 'invoke_prompt']) {
      const answer = await callTool(tool, { prompt: other }, { key });
      expect([tool, answer.body.result.isError, jsonOf(answer)['type']]).toEqual([
        tool,
        true,
        problem('prompt-not-found'),
      ]);
    }
  });
});

describe('200 with a tool', () => {
  it('get_prompt reads a prompt or one of its versions', async () => {
    const slug = await createPrompt({});
    await harness.service.call('PUT', `/api/v1/prompts/${slug}`, {
      body: { messages: [{ role: 'user', content: 'B' }] },
    });
    expect(jsonOf(await callTool('get_prompt', { prompt: slug }))).toMatchObject({ slug, version: 2 });
    expect(jsonOf(await callTool('get_prompt', { prompt: slug, version: 1 }))).toMatchObject({
      version: 1,
      current: false,
    });
  });

  it('render_prompt and invoke_prompt have the answer of their operation', async () => {
    const slug = await createPrompt({});
    const rendered = jsonOf(await callTool('render_prompt', { prompt: slug, variables: { name: 'Ada' } }));
    expect(rendered).toMatchObject({ version: 1, messages: [{ role: 'user', content: 'Hello Ada' }] });
    expect(harness.mock.requests).toHaveLength(0);
    const answer = await callTool('invoke_prompt', { prompt: slug, messages: [{ role: 'user', content: 'And?' }] });
    expect(jsonOf(answer)).toMatchObject({ text: 'Hello from model-a.', finishReason: 'stop' });
    const { invocation_id: id } = JSON.parse(answer.body.result.content[1].text as string) as { invocation_id: string };
    const { body: record } = await until(
      () => harness.service.call('GET', `/api/v1/invocations/${id}`),
      ({ status }) => status === 200,
    );
    expect(record).toMatchObject({ operation: 'invoke', prompt_slug: slug, status: 'succeeded' });
    const listed = jsonOf(await callTool('list_invocations', { prompt: slug, limit: 1 }));
    expect(listed['data']).toMatchObject([{ id }]);
    expect(jsonOf(await callTool('get_costs', { by: 'prompt', prompt: slug }))).toMatchObject({ total: { calls: 1 } });
  });

  it('create_prompt_version moves no label, and is in the audit log as its operation', async () => {
    const slug = await createPrompt({});
    const path = `/api/v1/prompts/${slug}`;
    const label = { body: { version: 1 }, headers: { 'If-None-Match': '*' } };
    await harness.service.call('PUT', `${path}/labels/production`, label);
    const read = await callTool('get_prompt', { prompt: slug });
    const { etag } = JSON.parse(read.body.result.content[1].text as string) as { etag: string };
    const messages = [{ role: 'user', content: 'Bye {{name|world}}' }];
    const change = { prompt: slug, messages, note: 'By an editor', if_match: etag };
    expect(jsonOf(await callTool('create_prompt_version', change))).toMatchObject({
      version: 2,
      labels: { production: 1 },
    });
    const lost = await callTool('create_prompt_version', change);
    expect([lost.body.result.isError, jsonOf(lost)['type']]).toEqual([true, problem('precondition-failed')]);
    const { body } = await harness.service.call('GET', path);
    const { body: log } = await harness.service.call('GET', `/api/v1/audit-log?resource_id=${body.id}`);
    expect(log.data[0]).toMatchObject({ operation: 'updatePrompt' });
  });

  it('says what is wrong with its arguments, as a result that a model can read', async () => {
    const slug = await createPrompt({});
    for (const [tool, args, type] of [
      ['get_prompt', {}, 'invalid-request'],
      ['get_prompt', { prompt: 7 }, 'invalid-request'],
      ['get_prompt', { prompt: slug, labels: {} }, 'invalid-request'],
      ['create_prompt_version', { prompt: slug, labels: { production: 2 } }, 'invalid-request'],
      ['create_prompt_version', { prompt: slug, slug: 'other' }, 'invalid-request'],
      ['list_prompts', { limit: '1e3' }, 'invalid-request'],
      ['list_prompts', { limit: 100_000 }, 'invalid-request'],
      ['list_prompts', { after: 'nonsense' }, 'invalid-request'],
      ['get_costs', { by: 'moon' }, 'invalid-request'],
      ['invoke_prompt', { prompt: '../api-keys' }, 'invalid-request'],
      ['invoke_prompt', { prompt: slug, version: 9 }, 'version-not-found'],
    ] as const) {
      const answer = await callTool(tool, args);
      expect([answer.status, answer.body.result?.isError, jsonOf(answer)['type']]).toEqual([200, true, problem(type)]);
    }
    expect(harness.mock.requests).toHaveLength(0);
  });

  it('has the failure of a provider as a result', async () => {
    const slug = await createPrompt({ selected_model: 'mock-500' });
    const answer = await callTool('invoke_prompt', { prompt: slug });
    expect([answer.body.result.isError, jsonOf(answer)]).toMatchObject([
      true,
      { type: problem('provider-failed'), status: 502 },
    ]);
  });
});

describe('the revision with a handshake', () => {
  it('is served without sessions', async () => {
    const clientInfo = { name: 'test', version: '1' };
    for (const protocolVersion of ['2025-11-25', '2024-11-05']) {
      const { status, body, headers } = await older('initialize', { protocolVersion, capabilities: {}, clientInfo });
      expect([status, body.result.protocolVersion, headers['mcp-session-id']]).toEqual([200, '2025-11-25', undefined]);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
    }
    expect((await older('ping')).body.result).toEqual({});
    const { body } = await older('tools/list');
    expect([body.result.tools.length, 'ttlMs' in body.result]).toEqual([7, false]);
    expect((await older('nothing/known')).body.error.code).toBe(-32_601);
  });
});

it('202: a notification', async () => {
  const body = { jsonrpc: '2.0', method: 'notifications/initialized' };
  const headers = { 'MCP-Protocol-Version': '2025-11-25' };
  const { status, text } = await harness.service.call('POST', '/mcp', { body, headers });
  expect([status, text]).toEqual([202, '']);
});

describe('400', () => {
  const refusals: readonly (readonly [string, number, object | string, Record<string, string>])[] = [
    ['a batch', -32_600, [{ jsonrpc: '2.0', id: 1, method: 'ping' }], {}],
    ['an answer', -32_600, { jsonrpc: '2.0', id: 1, result: {} }, {}],
    ['another version of JSON-RPC', -32_600, { jsonrpc: '1.0', id: 1, method: 'ping' }, {}],
    ['an id that is null', -32_600, { jsonrpc: '2.0', id: null, method: 'ping' }, {}],
    ['params in a list', -32_600, { jsonrpc: '2.0', id: 1, method: 'ping', params: [] }, {}],
    ['no JSON', -32_700, '{"jsonrpc":', {}],
    [
      'deep nesting',
      -32_700,
      `{"jsonrpc":"2.0","method":"ping","params":{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}}`,
      {},
    ],
  ];
  it.each(refusals)('is an error of JSON-RPC: %s', async (_name, code, body, headers) => {
    const answer = await harness.service.call('POST', '/mcp', { body, headers });
    expect([answer.status, answer.body.error.code, answer.body.id]).toEqual([400, code, null]);
  });

  it.each([
    ['another method in the header', { 'Mcp-Method': 'prompts/list' }],
    ['another name in the header', { 'Mcp-Name': 'get_costs' }],
    ['another revision in the header', { 'MCP-Protocol-Version': '2025-11-25' }],
  ])('header fields that contradict the body: %s', async (_name, headers) => {
    const { status, body } = await callTool('list_prompts', {}, { headers });
    expect([status, body.error.code, body.id]).toEqual([400, -32_020, 1]);
  });

  it('a revision that is not known', async () => {
    const revision = { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    const body = { jsonrpc: '2.0', id: 'a', method: 'tools/list', params: { _meta: { ...meta, ...revision } } };
    const headers = { 'MCP-Protocol-Version': '2099-01-01', 'Mcp-Method': 'tools/list' };
    const answer = await harness.service.call('POST', '/mcp', { body, headers });
    expect([answer.status, answer.body.id, answer.body.error]).toMatchObject([
      ...[400, 'a', { code: -32_022, data: { supported: ['2026-07-28'], requested: '2099-01-01' } }],
    ]);
    const unsupported = await older('tools/list', {}, { headers: { 'MCP-Protocol-Version': '2019-01-01' } });
    expect([unsupported.status, unsupported.body.error.code]).toEqual([400, -32_000]);
  });
});

it('401 has no resource_metadata', async () => {
  const { status, body, headers } = await mcp('tools/list', {}, { key: null });
  expect([status, body.error.data.type]).toEqual([401, problem('unauthenticated')]);
  expect(headers['www-authenticate']).toMatch(/^Bearer/);
  expect(headers['www-authenticate']).not.toContain('resource_metadata');
});

describe('403', () => {
  it('cross-origin: a page whose name was made to point to this machine', async () => {
    const headers = { Host: 'evil.example.com', Origin: 'http://evil.example.com' };
    expect((await mcp('tools/list', {}, { headers })).status).toBe(403);
  });

  it('cross-origin: a page of another origin', async () => {
    for (const [origin, expected] of [
      ['https://evil.example.com', 403],
      ['null', 403],
      ['https://editor.example.com', 200],
      [harness.service.url, 200],
    ] as const) {
      const { status, body } = await mcp('tools/list', {}, { headers: { Origin: origin } });
      expect([origin, status, body.error?.data.type]).toEqual([
        ...[origin, expected, expected === 403 ? problem('cross-origin') : undefined],
      ]);
    }
  });
});

describe('404', () => {
  it.each(['nothing/known', 'subscriptions/listen', 'resources/list', 'initialize'])(
    'an unknown method: %s',
    async (method) => {
      const { status, body } = await mcp(method);
      expect([status, body.id, body.error.code]).toEqual([404, 1, -32_601]);
    },
  );
});

it('405 for GET and DELETE', async () => {
  for (const method of ['GET', 'DELETE']) {
    const { status, headers } = await harness.service.call(method, '/mcp');
    expect([status, headers['allow']]).toEqual([405, 'POST, OPTIONS']);
  }
});
