import { afterEach, describe, expect, it } from '@jest/globals';
import { testDatabaseUri } from '../support/database.ts';
import { LossyProxy } from '../support/lossy-proxy.ts';
import { send } from '../support/send.ts';
import { createPrompt, setUpProcesses } from './operation-harness.ts';
import { until } from '../support/until.ts';

/** Confidential data of callers and operators. None of it may appear in a place where it does not belong. */
const marks = {
  prompt: 'MARK-prompt-text',
  fallback: 'MARK-default-text',
  variable: 'MARK-variable-value',
  answer: 'MARK-answer-text',
  provider: 'sk-MARK-provider-key-0123456789',
  body: 'MARK-malformed-body',
  key: 'pgw_MARK_key_that_is_not_valid_0123456789',
  idempotency: 'MARK-idempotency-key',
  query: 'MARK-query',
  signIn: 'MARK-api-key-of-a-sign-in',
  signInToken: 'MARK-token-of-a-sign-in-link',
  cookie: 'MARK-cookie-of-a-session',
};

const processes = setUpProcesses(marks.provider);
let proxy: LossyProxy | undefined;
afterEach(async () => {
  await proxy?.stop().catch(() => undefined);
});

/**
 * Sends every kind of confidential data, in requests that succeed and in requests that fail. @returns the bodies of the
 * failures
 */
async function sendMarkedRequests(service: Awaited<ReturnType<typeof processes.start>>): Promise<string[]> {
  const failures: string[] = [];
  const call = async (...[method, target, body, headers]: [string, string, unknown?, Record<string, string>?]) => {
    const answer = await send(service, method, target, body, headers);
    const text = await answer.text();
    if (answer.status >= 400) failures.push(text);
    return answer.status;
  };
  const messages = [{ role: 'user', content: `${marks.prompt} {{name|${marks.fallback}}} {{needed}}` }];
  const prompt = await createPrompt(service, { messages, variables: { needed: { required: true } } });
  const invoke = (model: string): Promise<number> =>
    call('POST', `${prompt}/invoke`, { model, variables: { needed: marks.variable } });
  const choices = [{ index: 0, message: { role: 'assistant', content: marks.answer }, finish_reason: 'stop' }];
  const body = JSON.stringify({ id: 'a', object: 'chat.completion', created: 1, model: 'model-a', choices });
  processes.mock.behave('model-a', { kind: 'body', contentType: 'application/json', body });
  expect(await invoke('model-a')).toBe(200);
  // The error bodies of the mock quote the request and its credentials, as some real providers do.
  for (const model of ['mock-401', 'mock-400', 'mock-500', 'mock-garbage', 'mock-partial', 'mock-cut', 'mock-reset']) {
    expect(await invoke(model)).toBe(502);
  }
  const targets = { providers: [{ provider: 'mock', model: 'mock-400' }], variables: { needed: marks.variable } };
  expect(await call('POST', `${prompt}/test`, targets, { 'idempotency-key': marks.idempotency })).toBe(201);
  expect(await call('POST', `${prompt}/invoke`, { variables: { name: marks.variable } })).toBe(422);
  expect(await call('POST', '/api/v1/prompts', `{"name": "${marks.body}`)).toBe(400);
  expect(await call('POST', '/api/v1/prompts', { name: 7, messages: marks.body })).toBe(400);
  expect(await call('PUT', prompt, { messages: [{ role: marks.body, content: marks.prompt }] })).toBe(400);
  expect(await call('GET', '/api/v1/prompts', undefined, { authorization: `Bearer ${marks.key}` })).toBe(401);
  expect(await call('GET', `/api/v1/prompts?q=${marks.query}`)).toBe(200);
  const created = await send(service, 'POST', '/api/v1/api-keys', { name: 'marked', scopes: ['prompts:read'] });
  const { key } = (await created.json()) as { key: string };
  expect(await call('GET', '/api/v1/prompts', undefined, { authorization: `Bearer ${key}` })).toBe(200);
  const session = '/api/v1/session';
  const page = { 'sec-fetch-site': 'same-origin', authorization: 'Basic none' };
  expect(await call('POST', session, { api_key: marks.signIn }, page)).toBe(401);
  expect(await call('POST', session, { sign_in_token: marks.signInToken }, page)).toBe(401);
  expect(await call('POST', session, { api_key: marks.signIn, sign_in_token: [marks.signInToken] }, page)).toBe(400);
  expect(await call('POST', session, { api_key: key }, { 'sec-fetch-site': 'cross-site' })).toBe(403);
  const signedIn = await send(service, 'POST', session, { api_key: key }, page);
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  expect(await call('GET', '/api/v1/prompts', undefined, { ...page, cookie })).toBe(200);
  const wrongCookie = `prompt-gateway-session=${marks.cookie}`;
  expect(await call('GET', '/api/v1/prompts', undefined, { ...page, cookie: wrongCookie })).toBe(401);
  secretsMade.push(cookie.split('.').at(-1) ?? '');
  await proxy?.stop();
  expect(await invoke('model-a')).toBe(503);
  expect(await call('PUT', prompt, { messages })).toBe(503);
  await proxy?.restart();
  failures.push(await (await send(service, 'GET', '/metrics')).text());
  // pgw_<id>_<secret>: the secret can contain the separator.
  secretsMade.push(key.split('_').slice(2).join('_'));
  return failures;
}

const secretsMade: string[] = [];

describe('the messages of the service', () => {
  it.each(['info', 'trace'])('name requests, but no key, prompt, variable or answer (level %s)', async (level) => {
    proxy = await LossyProxy.start(testDatabaseUri());
    const service = await processes.start({ LOG_LEVEL: level, MONGODB_URI: proxy.uri, CONTRACT_REFEREE: 'on' });
    const failures = await sendMarkedRequests(service);
    const named = await send(service, 'GET', '/api/v1/providers', undefined, {
      'x-request-id': 'named-by-the-caller',
    });
    expect(named.headers.get('x-request-id')).toBe('named-by-the-caller');
    await until(() => service.log.some((line) => line.includes('named-by-the-caller')));
    await service.stop();

    const lines = service.log.map((line) => JSON.parse(line) as Record<string, unknown>);
    const requests = lines.filter(({ msg }) => msg === 'request' || msg === 'request failed');
    expect(requests.length).toBeGreaterThan(20);
    for (const line of lines) expect(line).toMatchObject({ level: expect.any(String), time: expect.any(String) });
    for (const line of requests) {
      expect(line).toMatchObject({
        request_id: expect.any(String),
        operation: expect.any(String),
        status: expect.any(Number),
      });
    }
    const told = [...service.log, ...service.messages, ...failures].join('\n');
    for (const secret of [...Object.values(marks), ...secretsMade, processes.environment['ADMIN_API_KEY'] ?? '']) {
      expect(told.split('\n').filter((line) => line.includes(secret))).toEqual([]);
    }
  });
});
