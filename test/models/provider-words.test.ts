import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createLookUp } from '../../src/base/outbound/look-up.ts';
import { createProviderHttp, type ProviderHttp } from '../../src/models/transport/http.ts';
import { createProviderRegistry } from '../../src/models/registry.ts';
import type { Provider } from '../../src/models/provider.ts';
import { createStreamWatch } from '../../src/models/call/stream-watch.ts';
import { ProblemError } from '../../src/base/errors/problem-error.ts';
import { finishOf, type FailedAttempt } from '../../src/models/language-model.ts';
import { systemClock } from '../../src/base/runtime/clock.ts';
import { systemRandom } from '../../src/base/runtime/random.ts';
import { collect, remoteIds, request } from './providers-harness.ts';

/** A key that looks like no other. */
const secret = 'Opaque.Secret~of~the~Operator';
const other = 'another-provider-secret';

interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
}

let reply: Reply;
let server: Server;
let http: ProviderHttp;
let providerOf: (id: string) => Provider;

beforeAll(async () => {
  server = createServer((incoming, response) => {
    incoming.resume().on('end', () => {
      const { status = 400, headers = {}, body } = reply;
      const isText = typeof body === 'string' || Buffer.isBuffer(body);
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
      response.end(isText ? body : JSON.stringify(body));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const access = { apiKey: secret, baseUrl, region: 'eu-central-1' };
  http = createProviderHttp({ lookUp: createLookUp() });
  const registry = createProviderRegistry({
    settings: {
      builtIn: Object.fromEntries(remoteIds.map((id) => [id, access])),
      compatible: [
        {
          id: 'local',
          name: 'Local',
          baseUrl,
          models: ['llama'],
          headers: { 'x-auth': `Scheme ${other}`, 'x-short': 'none' },
        },
      ],
      models: {},
      concurrency: 10,
    },
    fetch: http.fetch,
    streamFetch: http.streamFetch,
    random: systemRandom,
    streamWatch: createStreamWatch({ clock: systemClock }),
  });
  providerOf = (id) => registry.get(id) as Provider;
});
beforeEach(() => {
  reply = { body: {} };
});
afterAll(async () => {
  await http.close();
  server.close();
});

interface Said {
  readonly message: string | undefined;
  readonly code: string | undefined;
}

/** What the failure of a call says: the same in the problem and in the attempt, whole and streamed. */
async function said(id: string, content = 'Hello there'): Promise<Said & { readonly problem: ProblemError }> {
  const attempts: FailedAttempt[] = [];
  const call = request('gpt', {
    maxAttempts: 1,
    messages: [{ role: 'user', content }],
    onFailedAttempt: (attempt) => attempts.push(attempt),
  });
  const whole: unknown = await finishOf(providerOf(id).answer(call, call, { isStreamed: false })).catch(
    (error: unknown) => error,
  );
  if (!(whole instanceof ProblemError)) throw new Error('The call did not fail.');
  const { problem: streamed } = await collect(providerOf(id).answer(call, call, { isStreamed: true }));
  for (const one of [streamed?.extensions, ...attempts]) {
    expect(one?.provider_message).toBe(whole.extensions.provider_message);
    expect(one?.provider_code).toBe(whole.extensions.provider_code);
  }
  expect(attempts).toHaveLength(2);
  return { message: whole.extensions.provider_message, code: whole.extensions.provider_code, problem: whole };
}

const openai = (message: unknown, more: object = {}): object => ({
  error: { message, type: 'invalid_request_error', ...more },
});

describe('the words of a provider', () => {
  const tooLong = "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens.";
  it.each<[string, string, Reply, Said]>([
    [
      'openai',
      'the error',
      { body: openai(tooLong, { code: 'context_length_exceeded', param: 'messages' }) },
      { message: tooLong, code: 'context_length_exceeded' },
    ],
    ['azure', 'no code', { body: openai('No.', { code: null }) }, { message: 'No.', code: 'invalid_request_error' }],
    [
      'anthropic',
      'the error',
      { body: { type: 'error', error: { type: 'invalid_request_error', message: 'max_tokens: 9 > 8' } } },
      { message: 'max_tokens: 9 > 8', code: 'invalid_request_error' },
    ],
    [
      'google',
      'a status',
      { body: { error: { code: 400, message: 'Invalid value at contents[0]', status: 'INVALID_ARGUMENT' } } },
      { message: 'Invalid value at contents[0]', code: 'INVALID_ARGUMENT' },
    ],
    [
      'google',
      'a list',
      {
        body: [
          {
            error: {
              code: 400,
              message: 'Bad',
              status: 'FAILED_PRECONDITION',
              details: [{ reason: 'LOCATION_NOT_SUPPORTED' }],
            },
          },
        ],
      },
      { message: 'Bad', code: 'LOCATION_NOT_SUPPORTED' },
    ],
    [
      'amazon-bedrock',
      'a header',
      {
        body: { message: 'The provided model identifier is invalid.' },
        headers: { 'x-amzn-errortype': 'ValidationException:http://internal.amazon.com/' },
      },
      { message: 'The provided model identifier is invalid.', code: 'ValidationException' },
    ],
    [
      'cohere',
      'a message',
      { body: { id: 'x', message: 'invalid role' } },
      { message: 'invalid role', code: undefined },
    ],
    [
      'mistral',
      'a list of mistakes',
      { status: 422, body: { detail: [{ loc: ['body', 'messages', 0], msg: 'Field required', type: 'missing' }] } },
      { message: 'body.messages.0: Field required', code: undefined },
    ],
    [
      'mistral',
      'a message',
      { body: { object: 'error', message: 'Too many', type: 'invalid_request_message_order', code: '3230' } },
      { message: 'Too many', code: 'invalid_request_message_order' },
    ],
    [
      'xai',
      'a text and a sentence',
      { body: { code: 'Some requested entity was not found', error: 'No model grok-0' } },
      { message: 'No model grok-0', code: undefined },
    ],
    [
      'groq',
      'the error',
      { body: openai('Please reduce the length', { code: 'request_too_large' }) },
      { message: 'Please reduce the length', code: 'request_too_large' },
    ],
    [
      'deepseek',
      'the error',
      { status: 402, body: openai('Insufficient Balance', { type: 'unknown_error' }) },
      { message: 'Insufficient Balance', code: 'unknown_error' },
    ],
    [
      'local',
      'a text (Ollama)',
      { status: 404, body: { error: "model 'llama' not found" } },
      { message: "model 'llama' not found", code: undefined },
    ],
    [
      'local',
      'a detail (FastAPI)',
      { status: 404, body: { detail: 'Not Found' } },
      { message: 'Not Found', code: undefined },
    ],
    [
      'local',
      'no JSON',
      { status: 502, body: 'upstream connect error', headers: { 'Content-Type': 'text/plain' } },
      { message: 'upstream connect error', code: undefined },
    ],
    [
      'local',
      'a page of a proxy',
      {
        status: 502,
        body: '<html><head><title>502 Bad Gateway</title></head><body><script>x</script>nginx</body></html>',
        headers: { 'Content-Type': 'text/html' },
      },
      { message: '502 Bad Gateway', code: undefined },
    ],
    [
      'local',
      'a page without title',
      { status: 502, body: '<!doctype html><p>gone' },
      { message: undefined, code: undefined },
    ],
    ['local', 'nothing', { status: 500, body: '' }, { message: undefined, code: undefined }],
  ])('%s: %s', async (id, _what, sent, expected) => {
    reply = sent;
    const { message, code } = await said(id);
    expect({ message, code }).toEqual(expected);
  });

  it('are read in an error with status 200', async () => {
    reply = { status: 200, body: { error: 'out of memory' } };
    const call = request('gpt');
    await expect(finishOf(providerOf('local').answer(call, call, { isStreamed: false }))).rejects.toMatchObject({
      type: 'provider-bad-answer',
      extensions: { provider_message: 'out of memory' },
    });
  });

  it.each<[string, string]>([
    ['openai', 'data: {"error":{"message":"Broken.","type":"server_error","code":null}}\n\n'],
    ['local', 'data: {"error":"Broken."}\n\n'],
    ['anthropic', 'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"Broken."}}\n\n'],
    ['google', 'data: {"error":{"code":500,"message":"Broken.","status":"INTERNAL"}}\n\n'],
    [
      'xai',
      'event: error\ndata: {"type":"error","code":"server_error","message":"Broken.","param":null,"sequence_number":0}\n\n',
    ],
  ])('are read in an event of a stream of %s', async (id, body) => {
    reply = { status: 200, body, headers: { 'Content-Type': 'text/event-stream' } };
    const call = request('gpt', { maxAttempts: 1 });
    const { problem } = await collect(providerOf(id).answer(call, call, { isStreamed: true }));
    expect(problem?.extensions.provider_message).toBe('Broken.');
  });
});

describe('refused credentials', () => {
  it.each<[string, number, string]>([
    ['openai', 401, 'Check OPENAI_API_KEY.'],
    ['anthropic', 403, 'Check ANTHROPIC_API_KEY.'],
    ['amazon-bedrock', 403, 'Check AWS_BEARER_TOKEN_BEDROCK.'],
    ['local', 401, 'Check api_key and headers of "local" in OPENAI_COMPATIBLE_PROVIDERS.'],
  ])('of %s (%i) name the setting, and no word of the provider', async (id, status, advice) => {
    reply = { status, body: openai('Incorrect API key provided: abc. Find yours at …', { code: 'my-secret-code' }) };
    const { message, code, problem } = await said(id);
    expect([message, code]).toEqual([
      undefined,
      status === 401 || status === 403 ? 'invalid_request_error' : undefined,
    ]);
    expect(problem.message).toContain(advice);
    expect(problem.message).not.toContain('Incorrect');
  });

  it('are also those of Google with status 400', async () => {
    const details = [{ reason: 'API_KEY_INVALID' }];
    reply = { body: { error: { code: 400, message: 'API key not valid: abc', status: 'INVALID_ARGUMENT', details } } };
    const { message, code, problem } = await said('google');
    expect([message, code, problem.type]).toEqual([undefined, 'API_KEY_INVALID', 'provider-refused-credentials']);
    expect(problem.message).toContain('Check GOOGLE_GENERATIVE_AI_API_KEY.');
  });
});

describe('a hostile provider', () => {
  it.each<[string, string]>([
    [`You sent Authorization: Bearer ${secret}!`, 'Opaque'],
    [`You sent ${secret}`, 'Opaque'],
    [`Key ${encodeURIComponent(secret)} and ${Buffer.from(secret).toString('base64')}`, 'T3BhcXVl'],
    [`{"x-auth":"Scheme ${other}"}`, other],
    ['Key: sk-…abcd', 'abcd'],
    ['Key sk-proj-****abcd is wrong', 'abcd'],
    ['Key AIza...wxyz is wrong', 'wxyz'],
    ['Key AIzaSyA1234567890 is wrong', 'SyA123'],
    ['Key pgw_0123_abcdefghijkl is wrong', 'abcdefgh'],
    ['Incorrect API key provided: hunter22', 'hunter22'],
    ['Header \\"x-api-key\\":\\"hunter22\\" refused', 'hunter22'],
    ['Key ab12********yz34 is wrong', 'yz34'],
    ['Access AKIAIOSFODNN7EXAMPLE denied', 'IOSFODNN7'],
    ['Signed with wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY today', 'wJalr'],
    ['Key 0123456789abcdef0123456789abcdef denied', '89abcdef'],
    ['Token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def denied', 'eyJ'],
    ['See https://ada:hunter22@proxy.example/x', 'hunter22'],
    ['See https://proxy.example/x?api_key=hunter22&y=1', 'hunter22'],
    [`s\u200bk-abcdef0123456789`, 'abcdef01'],
  ])('cannot show a key: %s', async (text, hidden) => {
    reply = { body: openai(text) };
    const { message, problem } = await said('openai');
    expect(message).toContain('[redacted]');
    expect(`${message} ${problem.message}`).not.toContain(hidden);
  });

  it.each([
    'Model claude-3-5-sonnet-20241022 does not support max_tokens: 9000 (req_011CSHoEeqs5C35K2UUqR7Fy).',
    'Unknown parameter: tools[0].function.parameters.additionalProperties, got "yes".',
    'Rate limit reached for gpt-4o-mini in organization: limit 30000, used 29000. See https://platform.openai.com/docs/guides/rate-limits',
    'Request 5b0d8f4e-2f6c-4f0b-9c4e-0a1b2c3d4e5f took too long.',
    'POST /v1/chat/completions: schema must have "additionalProperties": false, none',
  ])('is not masked without need: %s', async (text) => {
    reply = { body: openai(text) };
    expect((await said('openai')).message).toBe(text);
  });

  it('cannot show the prompt to who only reads the log', async () => {
    const prompt = 'The merger with Initech\nis on; tell nobody, "please".';
    reply = { body: openai(`Cannot read ${JSON.stringify({ content: prompt })} nor “${prompt}”, sorry`) };
    const { message } = await said('openai', prompt);
    expect(message).toMatch(/^Cannot read .*\[prompt\].* sorry$/);
    for (const word of ['merger', 'Initech', 'nobody', 'please']) expect(message).not.toContain(word);
  });

  it.each(['\n', '\r\n', '\n\n', '\n  ', '\u2028', '\u200b\n'])(
    'cannot show a prompt of short lines, separated by %j',
    async (separator) => {
      const prompt = ['Name: Ada L.', 'Born: 10.12.', 'Ward: nine', 'HIV: positive', 'Next: Friday'].join(separator);
      reply = { body: openai(`Cannot read '${prompt}', sorry`) };
      expect((await said('openai', prompt)).message).toBe("Cannot read '[prompt]', sorry");
    },
  );

  it('cannot forge log lines, colors, or the direction of text', async () => {
    const text =
      'one\r\n{"level":"info"}\u2028two\t\u001b[31mred\u001b[0m\u0000\u0085\u202Eevil\u2066\uFEFF \uD800 \u{E0041}end';
    reply = { body: `{"error":{"message":${JSON.stringify(text)}}}` };
    const { message } = await said('openai');
    expect(message).toBe('one {"level":"info"} two red evil \uFFFD end');
  });

  it('cannot send more than a line of 1 KiB, and bytes that are no text', async () => {
    reply = { body: openai('Ω'.repeat(3_000)) };
    const long = (await said('openai')).message ?? '';
    expect(long).toMatch(/^Ω+…$/);
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(1_024);
    expect(Buffer.byteLength(long)).toBeGreaterThan(1_015);
    reply = { body: openai(`${'word '.repeat(500_000)}${secret}`) };
    expect(Buffer.byteLength((await said('openai')).message ?? '')).toBeLessThanOrEqual(1_024);
    reply = { body: openai('x'.repeat(2_000_000)) };
    expect((await said('openai')).message).toBeUndefined();
    reply = { body: Buffer.from([...Buffer.from('{"error":{"message":"a'), 0xff, 0xc0, ...Buffer.from('b"}}')]) };
    expect((await said('openai')).message).toBe('a\uFFFD\uFFFDb');
  });

  it('cannot hold the event loop with a text that is slow to search', async () => {
    const texts = ['a', 'secret', '?', '-----BEGIN x-----', 'eyJ', 'sk-', '://', '"', 'a1', '*', 'key='];
    for (const text of texts) {
      reply = { body: openai(text.repeat(7_000 / text.length)) };
      const began = process.cpuUsage();
      await said('openai', `${text.repeat(2_000_000 / text.length)}`);
      expect(process.cpuUsage(began).user / 1_000).toBeLessThan(2_000);
    }
  });

  it.each(['a secret', secret, 'sk-0123456789', 'x'.repeat(101), 'new\nline'])(
    'cannot send %j as a code',
    async (code) => {
      reply = { body: { error: { message: 'No.', code } } };
      expect((await said('openai')).code).toBeUndefined();
    },
  );
});
