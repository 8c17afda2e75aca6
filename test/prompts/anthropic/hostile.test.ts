/** What callers and Anthropic can send at worst. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { readEvents } from '../../support/server-sent-events.ts';
import type { Answer } from '../../support/service.ts';
import { name, setUpAnthropic } from './anthropic-harness.ts';

const setup = setUpAnthropic();
afterEach(() => {
  setup.mock.reset();
});

function post(body: string): Promise<Answer> {
  return setup.service.call('POST', '/v1/messages', { body, headers: { 'content-type': 'application/json' } });
}

/** @param content JSON */
function bodyWith(content: string, { model = `anthropic/${name}`, more = '' } = {}): string {
  return `{"model":"${model}","max_tokens":5${more},"messages":[{"role":"user","content":${content}}]}`;
}

const block = '{"type":"text","text":"x"}';

describe.each([`anthropic/${name}`, 'mock/model-a'])('a body for %s', (model) => {
  it.each([
    ['100,000 blocks', bodyWith(`[${`${block},`.repeat(99_999)}${block}]`, { model })],
    ['deep nesting', bodyWith(`${'['.repeat(100)}${']'.repeat(100)}`, { model })],
    ['a lone surrogate', bodyWith('"\\ud83d"', { model })],
    ['a number that no double holds', bodyWith('"x"', { model, more: ',"temperature":1e999' })],
    [
      'such a number in a schema',
      bodyWith('"x"', {
        model,
        more: ',"tools":[{"name":"f","input_schema":{"messages":[{"content":[{"input":1e999}]}]}}]',
      }),
    ],
    [
      'such a number beside arguments',
      bodyWith('[{"type":"text","text":"x","index":12345678901234567890}]', { model }),
    ],
    ['a limit with too many digits', bodyWith('"x"', { model, more: ',"top_k":12345678901234567890' })],
  ])('with %s is refused in the form of the API', async (_what, body) => {
    const answer = await post(body);
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { type: 'error', error: { type: 'invalid_request_error', code: 'malformed-body' } },
    ]);
    expect(setup.mock.requests).toHaveLength(0);
  });

  it('of 10,000 blocks and of four megabytes is passed on', async () => {
    const many = await post(bodyWith(`[${`${block},`.repeat(9_999)}${block}]`, { model }));
    expect(many.status).toBe(200);
    const long = await post(bodyWith(JSON.stringify('ä'.repeat(2 * 1024 * 1024)), { model }));
    expect(long.status).toBe(200);
    expect(setup.mock.requests).toHaveLength(2);
  });

  it.each([1, 40_000])('has any numbers in arguments of calls, also with %d characters besides', async (length) => {
    const said = `[{"type":"text","text":"${'x'.repeat(length)}"},
      {"type":"tool_use","id":"a","name":"f","input":{"id":1234567890123456789,"most":[1e999]}}]`;
    const talk = `[{"role":"user","content":"x"},{"role":"assistant","content":${said}},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}]`;
    const { status } = await post(`{"model":"${model}","max_tokens":5,"messages":${talk}}`);
    expect(status).toBe(200);
    expect(setup.mock.requests[0]?.text).toMatch(/\\?"id\\?":1234567890123456789,\\?"most\\?":\[1e999\]/);
  });

  it('without messages, model or any member is refused', async () => {
    for (const body of ['{}', '[]', 'null', '"x"', '{"model":1,"messages":{}}']) {
      const answer = await post(body);
      expect([answer.status, answer.body.type]).toEqual([400, 'error']);
    }
  });
});

describe('Anthropic', () => {
  it.each(['huge', 'endless'] as const)('with a whole answer that is %s is refused', async (kind) => {
    setup.mock.behave(name, { kind });
    const { status, body } = await post(bodyWith('"x"'));
    expect([status, body.error.code]).toEqual([502, 'provider-bad-answer']);
  });

  it('with an event of a stream that is huge is ended', async () => {
    setup.mock.behave(name, { kind: 'huge' });
    const answer = await post(bodyWith('"x"', { more: ',"stream":true' }));
    const said = answer.status === 200 ? JSON.parse(readEvents(answer.text).at(-1)?.data ?? '') : answer.body;
    expect(said).toMatchObject({ type: 'error', error: { code: 'provider-bad-answer' } });
  });

  it('waits while the caller does not read its stream', async () => {
    setup.mock.behave(name, { kind: 'endless' });
    const controller = new AbortController();
    const response = await fetch(`${setup.service.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${setup.service.adminKey}` },
      body: bodyWith('"x"', { more: ',"stream":true' }),
      signal: controller.signal,
    });
    expect(response.status).toBe(200);
    const [request] = setup.mock.requests;
    if (request === undefined) throw new Error('The provider was not called.');
    let before = -1;
    // Until the connections in between are full.
    while (before !== request.written) {
      before = request.written;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(32 * 1024 * 1024);
    controller.abort();
    await request.ended;
  });
});
