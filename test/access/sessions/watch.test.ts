/** What a page reads for longer than an answer takes: it ends with the session of the key that it began with. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createMovableClock } from '../../support/clock.ts';
import { startMockProvider } from '../../support/mock-provider.ts';
import { problem, startAnother } from '../../support/per-operation.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { callWith, cookieFor, path, samePage } from './sessions-harness.ts';

const clock = createMovableClock();
let mock: Awaited<ReturnType<typeof startMockProvider>>;
let service: TestService;
let other: TestService;
beforeAll(async () => {
  mock = await startMockProvider();
  const provider = { id: 'mock', base_url: mock.url, api_key: 'x'.repeat(20), models: ['model-a'] };
  const environment = { OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]) };
  service = await startTestService({ environment, clock });
  other = await startAnother(service, environment, { clock });
});
afterAll(async () => {
  await other.close();
  await service.close();
  await mock.close();
});

/** Reads the feed of events until its stream ends. */
async function follow({ url }: TestService, headers: Record<string, string>): Promise<{ text: Promise<string> }> {
  const answer = await fetch(`${url}/api/v1/events?after=now`, {
    headers: { ...samePage, ...headers, accept: 'text/event-stream' },
  });
  expect(answer.status).toBe(200);
  return { text: answer.text() };
}

const isOpen = async (text: Promise<string>): Promise<boolean> =>
  (await Promise.race([text, sleep(100, undefined)])) === undefined;
const ended = expect.stringMatching(new RegExp(`event: problem\\n.*${problem('unauthenticated')}.*session has ended`));

describe('a stream of the feed', () => {
  it('ends within 5 seconds after its session was signed out in any process, and those of others go on', async () => {
    const key = await service.createKey('events:read');
    const [here, there, staying] = [
      await cookieFor(service, key),
      await cookieFor(service, key),
      await cookieFor(service, key),
    ];
    const leaving = [await follow(other, { cookie: here }), await follow(other, { cookie: there })];
    const going = [await follow(other, { cookie: staying }), await follow(other, { authorization: `Bearer ${key}` })];
    expect((await callWith(service, here, 'DELETE', path)).status).toBe(200);
    expect((await callWith(other, there, 'DELETE', path)).status).toBe(200);
    for (const { text } of leaving) expect(await text).toEqual(ended);
    for (const { text } of going) expect(await isOpen(text)).toBe(true);
    const { body } = await service.call('GET', '/api/v1/whoami', { key });
    await service.call('POST', `/api/v1/api-keys/${String(body.id)}/revoke`);
    for (const { text } of going) expect(await text).toContain('The API key was revoked.');
  }, 30_000);

  it('ends 12 hours after the cookie with which it was opened, and can be opened with the renewed one', async () => {
    const cookie = await cookieFor(service, await service.createKey('events:read'));
    const stream = await follow(service, { cookie });
    clock.advance(11 * 3_600_000);
    const renewed = (await callWith(service, cookie)).headers['set-cookie']?.split(';')[0] ?? '';
    const later = await follow(service, { cookie: renewed });
    clock.advance(3_600_000);
    expect(await stream.text).toEqual(ended);
    expect(await isOpen(later.text)).toBe(true);
    expect((await callWith(service, renewed, 'DELETE', path)).status).toBe(200);
    expect(await later.text).toEqual(ended);
  }, 30_000);
});

describe('a stream of an answer', () => {
  it('ends within 5 seconds after its session was signed out in another process', async () => {
    const key = await service.createKey('providers:invoke');
    const stream = async (headers: Record<string, string>): Promise<{ text: Promise<string> }> => {
      mock.behave('model-a', { kind: 'stream', steps: [{ text: 'Hello' }, 'hang'] });
      const answer = await fetch(`${other.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...samePage, ...headers },
        body: JSON.stringify({ model: 'mock/model-a', messages: [{ role: 'user', content: 'Hello' }], stream: true }),
      });
      expect(answer.status).toBe(200);
      return { text: answer.text() };
    };
    const cookie = await cookieFor(service, key);
    const leaving = await stream({ cookie });
    const staying = await stream({ authorization: `Bearer ${key}` });
    expect((await callWith(service, cookie, 'DELETE', path)).status).toBe(200);
    expect(await leaving.text).toContain('The session has ended.');
    expect(await isOpen(staying.text)).toBe(true);
  }, 30_000);
});
