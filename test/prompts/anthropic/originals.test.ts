/** Requests that go to Anthropic itself as their callers wrote them, and its answers as they came. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { providerKey } from '../invoke/invoke-harness.ts';
import { setBudget, usd } from '../../accounting/budgets/budgets-harness.ts';
import { startMockProvider, type Behaviour, type MockProvider } from '../../support/mock-provider.ts';
import { readEvents } from '../../support/server-sent-events.ts';
import { startTestService, type Answer, type TestService } from '../../support/service.ts';

let mock: MockProvider;
let service: TestService;
beforeAll(async () => {
  mock = await startMockProvider();
  service = await startTestService({
    environment: { ANTHROPIC_API_KEY: providerKey, ANTHROPIC_BASE_URL: mock.url, INVOCATION_CONTENT: 'all' },
  });
});
afterAll(async () => {
  await service.close();
  await mock.close();
});
afterEach(() => {
  mock.reset();
});

const name = 'claude-sonnet-4-5';

function post(body: string, { headers = {}, key = service.adminKey, path = '/v1/messages' } = {}): Promise<Answer> {
  const fields = { 'content-type': 'application/json', 'anthropic-version': '2026-10-21', ...headers };
  return service.call('POST', path, { body, key, headers: fields });
}

/** A body in the spelling of its caller: the order of members, numbers, blanks, escapes. */
const written = `{ "stream":false,"max_tokens" : 1.0e2,
  "system":[{"type":"text","text":"Be \\u0062rief.","cache_control":{"type":"ephemeral","ttl":"1h"}}],
  "tools":[{"name":"f","input_schema":{"type":"object","properties":{"2":{"maximum":1.50},"1":{},"__proto__":{}}}},
    {"type":"bash_20250124","name":"bash","cache_control":{"type":"ephemeral"}}],
  "model":"anthropic/${name}", "metadata":{"user_id":"u"},"thinking":{"budget_tokens":1024,"type":"enabled"},
  "context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},
  "messages":[{"role":"user","content":[{"type":"text","text":"Hi \\ud83d\\ude00","cache_control":{"type":"ephemeral"}},
    {"type":"document","source":{"type":"text","media_type":"text/plain","data":"A text of some length."},"title":"T"}]},
    {"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"SIG=="},
      {"type":"text","text":"So   "}]}] }`;

/** What the provider got. */
function sent(): string {
  expect(mock.requests).toHaveLength(1);
  return mock.requests[0]?.text ?? '';
}

describe('a request', () => {
  it('goes out byte for byte, with another model', async () => {
    const { status } = await post(written);
    expect([status, sent()]).toEqual([200, written.replace(`anthropic/${name}`, name)]);
  });

  it('has the credential of the service and never that of the caller', async () => {
    const key = await service.createKey('providers:invoke');
    for (const credential of [{ authorization: `Bearer ${key}` }, { 'x-api-key': key }]) {
      mock.reset();
      const headers = { ...credential, 'anthropic-beta': 'interleaved-thinking-2025-05-14' };
      const answer = await service.call('POST', '/v1/messages?beta=true', {
        body: JSON.stringify({ model: name, max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }),
        headers: { 'content-type': 'application/json', ...headers },
        key: null,
      });
      expect(answer.status).toBe(200);
      const [request] = mock.requests;
      expect(request?.headers).toMatchObject({
        'x-api-key': providerKey,
        'anthropic-version': '2023-06-01',
        'anthropic-beta': 'interleaved-thinking-2025-05-14',
      });
      expect(request?.headers.authorization).toBeUndefined();
      expect(JSON.stringify(request?.headers)).not.toContain(key);
      expect(request?.path).toBe('/messages');
    }
  });

  it('says its version of the API', async () => {
    await post(written);
    expect(mock.requests[0]?.headers['anthropic-version']).toBe('2026-10-21');
  });

  it('has the smaller limit of the key', async () => {
    const made = await service.call('POST', '/api/v1/api-keys', {
      body: { name: 'small', scopes: ['providers:invoke'], limits: { max_output_tokens: 50 } },
    });
    const { status } = await post(written, { key: made.body.secret ?? made.body.key });
    expect(status).toBe(200);
    expect(sent()).toBe(written.replace(`anthropic/${name}`, name).replace('1.0e2', '50'));
  });

  it('is written in turns if it is long, and its images are no part of the ceiling', async () => {
    const data = 'A'.repeat(4 * 1024 * 1024);
    const source = { type: 'base64', media_type: 'image/png', data };
    const body = {
      model: `anthropic/${name}`,
      max_tokens: 5,
      messages: [{ role: 'user', content: [{ type: 'image', source }] }],
    };
    expect((await post(JSON.stringify(body))).status).toBe(200);
    expect(sent()).toBe(JSON.stringify({ ...body, model: name }));
  });

  it.each([
    [
      'model',
      `{"model":"anthropic/a","max_tokens":1,"messages":[{"role":"user","content":"x"}],"model":"anthropic/b"}`,
    ],
    [
      'type',
      `{"model":"anthropic/a","max_tokens":1,"tools":[{"type":"web_search_20250305","name":"f","input_schema":{},"type":"custom"}],"messages":[{"role":"user","content":"x"}]}`,
    ],
    [
      'max_tokens',
      `{"model":"anthropic/a","max\\u005ftokens":9,"max_tokens":1,"messages":[{"role":"user","content":"x"}]}`,
    ],
  ])('with a member twice is refused: %s', async (member, body) => {
    const { status, body: answer } = await post(body);
    expect([status, answer.error.code]).toEqual([400, 'malformed-body']);
    expect(answer.error.message).toContain(`"${member}"`);
    expect(mock.requests).toHaveLength(0);
  });

  it.each([
    ['prompt', { prompt: null }, 400, 'conflicting-members'],
    [
      'messages[1].content[0]',
      {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: '' }] },
        ],
      },
      422,
      'unsupported-by-provider',
    ],
    [
      'messages[1].content[0]',
      {
        messages: [
          { role: 'user', content: 'x' },
          {
            role: 'assistant',
            content: [
              {
                type: 'redacted_thinking',
                data: `gateway.${Buffer.from('{"provider":"google","call":{"thoughtSignature":"S"},"id":"a"}').toString('base64url')}`,
              },
              { type: 'tool_use', id: 'a', name: 'f', input: {} },
            ],
          },
        ],
      },
      422,
      'unsupported-by-provider',
    ],
  ])('that cannot go there is refused by name: %s', async (place, members, status, code) => {
    const body = { model: `anthropic/${name}`, max_tokens: 5, messages: [{ role: 'user', content: 'x' }], ...members };
    const answer = await post(JSON.stringify(body));
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect(answer.body.error.message).toContain(place);
    expect(mock.requests).toHaveLength(0);
  });

  it('of a stored prompt is made by blocks', async () => {
    const prompt = { name: 'P', messages: [{ role: 'user', content: 'Hello' }], selected_provider: 'anthropic' };
    const { body: made } = await service.call('POST', '/api/v1/prompts', { body: prompt });
    const { status, body } = await post(JSON.stringify({ model: `prompt/${made.slug}`, max_tokens: 5, messages: [] }));
    expect([status, body.model]).toEqual([200, `anthropic/claude-sonnet-5-5`]);
  });
});

describe('a budget', () => {
  const bill = async (members: object): Promise<Answer> =>
    post(
      JSON.stringify({
        model: `anthropic/${name}`,
        max_tokens: 5,
        messages: [{ role: 'user', content: 'x' }],
        ...members,
      }),
    );
  const content = (block: object): object => ({ messages: [{ role: 'user', content: [block] }] });

  it('pays for everything that is sent, and refuses what has no known number of tokens', async () => {
    await setBudget(service, 'all', { limit: usd('1') });
    try {
      expect((await bill({})).status).toBe(200);
      const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } };
      for (const source of [pdf.source, { type: 'url', url: 'https://docs.example.com/a.pdf' }]) {
        const { status, body } = await bill(content({ ...pdf, source }));
        expect([status, body.error]).toMatchObject([402, { type: 'billing_error', code: 'cost-unknown' }]);
        expect(body.error.message).toContain('documents');
      }
      const text = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } };
      expect((await bill(content(text))).status).toBe(200);
      // 3 dollars for a million of tokens.
      const long = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x'.repeat(400_000) } };
      expect((await bill(content(long))).body.error.code).toBe('budget-exceeded');
      expect((await bill({ system: 'x'.repeat(400_000) })).body.error.code).toBe('budget-exceeded');
      const tool = { name: 'f', description: 'x'.repeat(200_000), input_schema: {} };
      expect((await bill({ tools: [tool] })).body.error.code).toBe('budget-exceeded');
      const examples = [{ name: 'f', input_schema: {}, input_examples: [{ a: 'x'.repeat(200_000) }] }];
      expect((await bill({ tools: examples })).body.error.code).toBe('budget-exceeded');
    } finally {
      await service.call('DELETE', '/api/v1/budgets/all');
    }
  });

  it('does not refuse a PDF if there is none', async () => {
    const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
    expect((await bill(content({ type: 'document', source }))).status).toBe(200);
  });
});

describe('a whole answer', () => {
  const whole = `{"id":"msg_1","type":"message","role":"assistant","model":"${name}-20250929","new_member":{"n":1.50},
    "content":[{"type":"thinking","thinking":"Hm.","signature":"SIG"},{"type":"text","text":"Hi \\u0041","citations":[]},
      {"type":"later_block","x":1},{"type":"tool_use","id":"toolu_1","name":"f","input":{"a":1.0,"b":12345678901234567890}}],
    "stop_reason":"tool_use","stop_sequence":null,
    "usage":{"input_tokens":11,"cache_read_input_tokens":4,"cache_creation_input_tokens":2,"output_tokens":7,
      "cache_creation":{"ephemeral_1h_input_tokens":2,"ephemeral_5m_input_tokens":0}}}`;
  const answerWith = (body: string, more: Partial<Extract<Behaviour, { kind: 'body' }>> = {}): void => {
    mock.behave(name, { kind: 'body', contentType: 'application/json', body, ...more });
  };

  it('goes back as it came, and is in the log', async () => {
    answerWith(whole);
    const answer = await post(written);
    expect([answer.status, answer.text]).toEqual([200, whole]);
    expect(answer.headers).toMatchObject({ 'x-provider': 'anthropic', 'x-model': name });
    const id = String(answer.headers['x-invocation-id']);
    const { body: record } = await service.call('GET', `/api/v1/invocations/${id}`);
    expect(record).toMatchObject({
      operation: 'message',
      status: 'succeeded',
      finish_reason: 'tool-calls',
      usage: {
        inputTokens: 17,
        outputTokens: 7,
        cachedInputTokens: 4,
        cacheWriteInputTokens: 2,
        cacheWrite1hInputTokens: 2,
      },
      attempts: [{ answer_id: 'msg_1', answer_model: `${name}-20250929` }],
    });
    const { body: kept } = await service.call('GET', `/api/v1/invocations/${id}/content`);
    expect(JSON.stringify(kept)).toContain('Be brief.');
    expect(JSON.stringify(kept)).toContain('A text of some length.');
    expect(kept.answer.content).toMatchObject([
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'Hi A' },
      { type: 'tool-call', id: 'toolu_1' },
    ]);
  });

  it.each([
    ['no JSON', '<html>'],
    ['another value', '[]'],
    ['an error', '{"type":"error","error":{"type":"api_error","message":"x"}}'],
    ['no content', whole.replace('"content"', '"contents"')],
    [
      'content that is no list',
      '{"id":"m","type":"message","role":"assistant","model":"m","content":"x","stop_reason":"end_turn","usage":{}}',
    ],
    ['blocks that are none', whole.replace('"type":"text","text"', '"type":"text","txt"')],
    ['a call without id', whole.replace('"id":"toolu_1",', '')],
    ['no end', whole.replace('"stop_reason":"tool_use"', '"stop_reason":null')],
    ['another role', whole.replace('"role":"assistant"', '"role":"user"')],
  ])('with %s is 502 provider-bad-answer', async (_what, body) => {
    answerWith(body);
    const answer = await post(written);
    expect([answer.status, answer.body.error]).toMatchObject([502, { type: 'api_error', code: 'provider-bad-answer' }]);
    expect(mock.requests).toHaveLength(1);
  });

  it('of an overloaded or limiting provider is repeated, and its words are concealed', async () => {
    mock.behave(name, { kind: 'status', status: 529, code: 'overloaded_error' }, { kind: 'answer' });
    expect((await post(written)).status).toBe(200);
    expect(mock.requests.map(({ text }) => text)).toEqual(Array.from({ length: 2 }, () => mock.requests[0]?.text));
    mock.reset();
    mock.behave(name, { kind: 'status', status: 400, code: 'invalid_request_error' });
    const refused = await post(written);
    expect([refused.status, refused.body.error]).toMatchObject([
      400,
      { type: 'invalid_request_error', code: 'invalid_request_error' },
    ]);
    expect(refused.text).not.toContain(providerKey);
    expect(refused.text).not.toContain('A text of some length.');
  });
});

describe('a streamed answer', () => {
  const streaming = written.replace('"stream":false', '"stream":true');
  const event = (type: string, members: string): string => `event: ${type}\ndata: {"type":"${type}"${members}}\n\n`;
  const start = event(
    'message_start',
    `,"message":{"id":"msg_1","type":"message","role":"assistant","model":"${name}","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":11,"output_tokens":1}}`,
  );
  const end =
    event('message_delta', ',"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":7}') +
    event('message_stop', '');
  const text = [
    event('content_block_start', ',"index":0,"content_block":{"type":"text","text":""}'),
    event('content_block_delta', ',"index":0,"delta":{"type":"text_delta","text":"Hi \\u0041"}'),
    event('content_block_stop', ',"index":0'),
  ];
  const everything = [
    start,
    event('ping', ''),
    event('content_block_start', ',"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}'),
    event('content_block_delta', ',"index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}'),
    event('content_block_delta', ',"index":0,"delta":{"type":"signature_delta","signature":"SIG=="}'),
    event('content_block_stop', ',"index":0'),
    event('content_block_start', ',"index":1,"content_block":{"type":"redacted_thinking","data":"RED"}'),
    event('content_block_stop', ',"index":1'),
    event('content_block_start', ',"index":2,"content_block":{"type":"later_block","x":1.50}'),
    event('content_block_delta', ',"index":2,"delta":{"type":"later_delta","y":2}'),
    event('content_block_stop', ',"index":2'),
    event('content_block_start', ',"index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}'),
    event('content_block_delta', ',"index":3,"delta":{"type":"input_json_delta","partial_json":"{\\"a\\":"}'),
    event('content_block_delta', ',"index":3,"delta":{"type":"input_json_delta","partial_json":"1.0}"}'),
    event('content_block_stop', ',"index":3'),
    event('later_event', ',"z":3'),
    end,
  ];
  const streamWith = (...pieces: readonly (string | 'hang' | 'cut')[]): void => {
    // The writer of the mock begins with an event of its own, so the answer is a body.
    mock.behave(name, { kind: 'body', contentType: 'text/event-stream; charset=utf-8', body: pieces.join('') });
  };

  it('goes back event by event as it came, and is in the log', async () => {
    streamWith(...everything);
    const answer = await post(streaming);
    expect([answer.status, answer.text]).toEqual([200, everything.join('')]);
    const id = String(answer.headers['x-invocation-id']);
    const { body: record } = await service.call('GET', `/api/v1/invocations/${id}`);
    expect(record).toMatchObject({ status: 'succeeded', streamed: true, usage: { inputTokens: 11, outputTokens: 7 } });
    const { body: kept } = await service.call('GET', `/api/v1/invocations/${id}/content`);
    expect(kept.answer.content).toMatchObject([
      { type: 'thinking', text: 'Hm.' },
      { type: 'thinking', text: '' },
      { type: 'tool-call', id: 'toolu_1', arguments: '{"a":1.0}' },
    ]);
  });

  it('is kept for an Idempotency-Key as it came, with the pieces of a text in one', async () => {
    streamWith(...everything);
    const headers = { 'Idempotency-Key': 'original' };
    const first = await post(streaming, { headers });
    const again = await post(streaming, { headers });
    const pieces = everything.slice(12, 14).join('');
    const joined = event(
      'content_block_delta',
      ',"index":3,"delta":{"type":"input_json_delta","partial_json":"{\\"a\\":1.0}"}',
    );
    expect(first.text).toContain(pieces);
    expect([again.text, again.headers['idempotency-replayed']]).toEqual([first.text.replace(pieces, joined), 'true']);
    expect(mock.requests).toHaveLength(1);
  });

  const early = event('error', ',"error":{"type":"overloaded_error","message":"Overloaded"}');

  it('that fails before its first content is repeated, or has its status', async () => {
    streamWith(start, event('ping', ''), early);
    streamWith(start, ...text, end);
    const answer = await post(streaming);
    expect([answer.status, answer.text]).toEqual([200, start + text.join('') + end]);
    expect(mock.requests).toHaveLength(2);
    mock.reset();
    streamWith(start, event('error', ',"error":{"type":"invalid_request_error","message":"No"}'));
    const refused = await post(streaming);
    expect([refused.status, refused.headers['content-type']]).toEqual([502, 'application/json; charset=utf-8']);
  });

  it('that fails later ends with an error of this service', async () => {
    streamWith(start, ...text, early);
    const answer = await post(streaming);
    const events = readEvents(answer.text);
    expect(events.at(-1)?.name).toBe('error');
    expect(JSON.parse(events.at(-1)?.data ?? '').error).toMatchObject({ code: expect.stringMatching(/^provider-/) });
  });

  it.each([
    ['an event before the begin', [...text, end]],
    ['two begins', [start, start, ...text, end]],
    ['a delta without block', [start, text[1], end]],
    ['a stop without block', [start, text[2], end]],
    ['a block at another place', [start, text[0]?.replace('"index":0', '"index":5'), end]],
    ['a block that goes on at the end', [start, text[0], end]],
    ['no end', [start, ...text]],
    ['no reason of the end', [start, ...text, event('message_stop', '')]],
    [
      'a name that is not that of the data',
      [start, text[0]?.replace('event: content_block_start', 'event: ping'), end],
    ],
    ['data that is no JSON', [start, 'event: ping\ndata: {"type":\n\n', end]],
    ['nothing', ['']],
  ])('with %s is refused', async (_what, pieces) => {
    streamWith(...pieces.map(String));
    const answer = await post(streaming);
    const said = answer.status === 200 ? JSON.parse(readEvents(answer.text).at(-1)?.data ?? '') : answer.body;
    expect(said).toMatchObject({ type: 'error', error: { code: 'provider-bad-answer' } });
    expect(answer.text).not.toContain('message_stop');
  });

  it('without an event stream is refused', async () => {
    mock.behave(name, { kind: 'body', contentType: 'application/json', body: '{}' });
    const { status, body } = await post(streaming);
    expect([status, body.error.code]).toEqual([502, 'provider-bad-answer']);
  });

  it('is canceled when the caller leaves', async () => {
    mock.behave(name, { kind: 'stream', steps: [{ text: 'Hello' }, 'hang'] });
    const controller = new AbortController();
    const response = await fetch(`${service.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${service.adminKey}` },
      body: streaming,
      signal: controller.signal,
    });
    await response.body?.getReader().read();
    controller.abort();
    await mock.requests[0]?.ended;
    expect(mock.requests[0]?.aborted).toBe(true);
  });
});
