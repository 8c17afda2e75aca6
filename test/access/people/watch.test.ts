/** What a page reads for longer than an answer takes: it ends with the session that it began with. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { startMockProvider } from '../../support/mock-provider.ts';
import { setUpPeople, type Browser } from './people-harness.ts';

const setup = setUpPeople();

type End = (browser: Browser, id: string) => Promise<unknown>;

/** How a session ends, by the subject of its person. */
const ends: Readonly<Record<string, End>> = {
  disabled: (_, id) => setup.service.call('PUT', `/api/v1/people/${id}`, { body: { disabled: true } }),
  'signed-out-everywhere': (_, id) => setup.service.call('POST', `/api/v1/people/${id}/sign-out`),
  'signed-out': (browser) => browser.call('DELETE', '/api/v1/session'),
  'without-role': async () => {
    setup.issuer.account = { sub: 'without-role', name: 'N', groups: ['guests'] };
    expect((await setup.signIn()).visited.status).toBe(403);
  },
};

describe('a stream', () => {
  it('ends within 5 seconds after its session, in another process, however that ends, and others go on', async () => {
    const mock = await startMockProvider();
    const provider = { id: 'mock', base_url: mock.url, api_key: 'x'.repeat(20), models: ['model-a'] };
    const other = await setup.startAnother({ OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]) });
    const stream = async (browser: Browser): Promise<Response> => {
      mock.behave('model-a', { kind: 'stream', steps: [{ text: 'Hello' }, 'hang'] });
      const answer = await fetch(`${other.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...setup.pageHeaders(browser) },
        body: JSON.stringify({ model: 'mock/model-a', messages: [{ role: 'user', content: 'Hello' }], stream: true }),
      });
      expect(answer.status).toBe(200);
      return answer;
    };
    const staying = (await stream((await setup.signInAs('staying', 'devs')).browser)).text();
    const leaving: [string, Promise<string>][] = [];
    for (const [sub, end] of Object.entries(ends)) {
      const { browser, id } = await setup.signInAs(sub, 'devs');
      leaving.push([sub, (await stream(browser)).text()]);
      await end(browser, id);
    }
    for (const [sub, text] of leaving) {
      expect([sub, await text]).toEqual([sub, expect.stringContaining('The session has ended.')]);
    }
    expect(await Promise.race([staying, sleep(100, 'still open')])).toBe('still open');
    await mock.close();
    expect(await staying).not.toContain('The session has ended.');
  });
});

describe('an export', () => {
  it('ends within 5 seconds after the session of its person', async () => {
    const line = (id: number): string => JSON.stringify({ id: `${id}`, expected: 'x'.repeat(250_000) });
    const body = Array.from({ length: 60 }, (_, index) => line(index)).join('\n');
    const lines = { 'Content-Type': 'application/x-ndjson' };
    expect((await setup.service.call('PUT', '/api/v1/datasets/large', { headers: lines, body })).status).toBe(201);
    const { browser, id } = await setup.signInAs('exporting', 'devs');
    const headers = setup.pageHeaders(browser);
    const answer = await fetch(`${setup.service.url}/api/v1/datasets/large/versions/1/export`, { headers });
    expect(answer.status).toBe(200);
    await setup.service.call('PUT', `/api/v1/people/${id}`, { body: { disabled: true } });
    // The service looks again when what it knows of the session is 5 seconds old.
    await sleep(5_500);
    await expect(answer.arrayBuffer()).rejects.toThrow();
  });
});
