import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createMovableClock } from '../../support/clock.ts';
import type { Answer } from '../../support/service.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from './invoke-harness.ts';

const clock = createMovableClock();
let harness: InvokeHarness;
let prompt: string;

beforeAll(async () => {
  harness = await startInvokeHarness({ clock });
  prompt = await harness.createPrompt();
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
});

/** Each test sends a request that no other test sends. */
let asked = 0;
const somethingNew = (): { variables: { name: string } } => ({ variables: { name: `guest ${(asked += 1)}` } });
const cacheControl = (value: string): Record<string, string> => ({ 'Cache-Control': value });
const origin = ({ status, headers }: Answer): unknown[] => [status, headers['x-cached'], headers['age']];
const fresh = [200, 'false', undefined];
const hit = [200, 'true', expect.stringMatching(/^\d$/)];

describe('Cache-Control', () => {
  it('is required to store or use an answer', async () => {
    const body = somethingNew();
    expect(origin(await harness.invoke(prompt, body))).toEqual(fresh);
    expect(origin(await harness.invoke(prompt, body))).toEqual(fresh);
    expect(origin(await harness.invoke(prompt, body, cacheControl('max-age=60')))).toEqual(fresh);
    expect(origin(await harness.invoke(prompt, body))).toEqual(fresh);
    expect(harness.mock.requests).toHaveLength(4);
  });

  it('max-age uses an answer that is young enough, and shows its age', async () => {
    const body = { ...somethingNew(), model: 'mock-slow-300' };
    const first = await harness.invoke(prompt, body, cacheControl('max-age=60'));
    expect(origin(first)).toEqual(fresh);
    const second = await harness.invoke(prompt, body, cacheControl('max-age=60'));
    expect(origin(second)).toEqual(hit);
    expect(second.body).toEqual({ ...first.body, cost: { amount: '0', currency: 'USD' } });
    for (const name of ['x-prompt-id', 'x-provider', 'x-model']) expect(second.headers[name]).toBe(first.headers[name]);
    // The time that reading took.
    expect(Number(second.headers['x-latency-ms'])).toBeLessThan(Number(first.headers['x-latency-ms']));

    clock.advance(1_001);
    const third = await harness.invoke(prompt, body, cacheControl('max-age=60'));
    expect(origin(third)).toEqual([200, 'true', expect.stringMatching(/^[1-9]$/)]);
    expect(harness.mock.requests).toHaveLength(1);
    expect(origin(await harness.invoke(prompt, body, cacheControl('max-age=1')))).toEqual(fresh);
    expect(harness.mock.requests).toHaveLength(2);
  });

  it.each(['no-cache', 'max-age=0', 'max-age=soon'])(
    '%s calls the provider, and keeps the answer',
    async (directive) => {
      const body = somethingNew();
      await harness.invoke(prompt, body, cacheControl('max-age=60'));
      harness.mock.behave('model-a', { kind: 'answer', finish: 'length' });
      expect(origin(await harness.invoke(prompt, body, cacheControl(directive)))).toEqual(fresh);
      expect(harness.mock.requests).toHaveLength(2);
      const kept = await harness.invoke(prompt, body, cacheControl('max-age=60'));
      expect([...origin(kept), kept.body.finishReason]).toEqual([...hit, 'length']);
    },
  );

  it('does not store an answer with an unknown finish reason', async () => {
    const body = somethingNew();
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Half an' }, finish_reason: 'engine_fault' }];
    const answer = JSON.stringify({ id: 'a', object: 'chat.completion', created: 1, model: 'model-a', choices });
    harness.mock.behave('model-a', { kind: 'body', contentType: 'application/json', body: answer });
    const broken = await harness.invoke(prompt, body, cacheControl('max-age=60'));
    expect([...origin(broken), broken.body.finishReason]).toEqual([...fresh, 'other']);
    const whole = await harness.invoke(prompt, body, cacheControl('max-age=60'));
    expect([...origin(whole), whole.body.finishReason]).toEqual([...fresh, 'stop']);
  });

  it('no-store neither uses nor stores an answer', async () => {
    const body = somethingNew();
    expect(origin(await harness.invoke(prompt, body, cacheControl('no-store')))).toEqual(fresh);
    expect(origin(await harness.invoke(prompt, body, cacheControl('max-age=60')))).toEqual(fresh);
    expect(origin(await harness.invoke(prompt, body, cacheControl('max-age=60, no-store')))).toEqual(fresh);
    expect(harness.mock.requests).toHaveLength(3);
  });

  it('ignores unknown directives', async () => {
    const body = somethingNew();
    await harness.invoke(prompt, body, cacheControl('stale-if-error=60, private'));
    expect(origin(await harness.invoke(prompt, body, cacheControl('max-age=60')))).toEqual(fresh);
  });
});

describe('504', () => {
  it.each(['only-if-cached', 'only-if-cached, max-age=60', 'only-if-cached, no-cache', 'only-if-cached, no-store'])(
    'is the answer to %s without a stored answer, and no provider is called',
    async (directive) => {
      const answer = await harness.invoke(prompt, somethingNew(), cacheControl(directive));
      expect([answer.status, problemOf(answer)]).toEqual([504, 'not-cached']);
      expect(harness.mock.requests).toHaveLength(0);
    },
  );

  it('is the answer to only-if-cached when the stored answer is too old or must not be used', async () => {
    const body = somethingNew();
    await harness.invoke(prompt, body, cacheControl('max-age=60'));
    expect((await harness.invoke(prompt, body, cacheControl('only-if-cached, no-cache'))).status).toBe(504);
    expect((await harness.invoke(prompt, body, cacheControl('only-if-cached, no-store'))).status).toBe(504);
    expect((await harness.invoke(prompt, body, cacheControl('only-if-cached, max-age=0'))).status).toBe(504);
    expect(origin(await harness.invoke(prompt, body, cacheControl('only-if-cached')))).toEqual(hit);
    expect((await harness.invoke(prompt, body, cacheControl('only-if-cached, max-age=60'))).status).toBe(200);
    clock.advance(1_001);
    expect((await harness.invoke(prompt, body, cacheControl('only-if-cached, max-age=1'))).status).toBe(504);
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('does not wait for a call in progress', async () => {
    const body = { ...somethingNew(), model: 'mock-held' };
    const slow = harness.invoke(prompt, body, cacheControl('max-age=60'));
    await harness.received(1);
    expect((await harness.invoke(prompt, body, cacheControl('only-if-cached'))).status).toBe(504);
    harness.mock.release();
    expect((await slow).status).toBe(200);
  });

  it('comes after every other check', async () => {
    const answer = await harness.invoke(prompt, { provider: 'opnai' }, cacheControl('only-if-cached'));
    expect(problemOf(answer)).toBe('unknown-provider');
  });
});

describe('the cache', () => {
  it('finds an answer by provider, model and rendered messages', async () => {
    const { variables } = somethingNew();
    const asking = [
      { variables },
      { variables, model: 'model-b' },
      { variables, provider: 'echo' },
      { variables: { name: `${variables.name}!` } },
    ];
    for (const body of asking) {
      expect(origin(await harness.invoke(prompt, body, cacheControl('max-age=60')))).toEqual(fresh);
    }
    for (const body of asking) {
      expect(origin(await harness.invoke(prompt, body, cacheControl('max-age=60')))).toEqual(hit);
    }
  });

  it('is shared by prompts with the same content, and by pinned versions', async () => {
    const body = somethingNew();
    await harness.invoke(prompt, body, cacheControl('max-age=60'));
    const twin = await harness.createPrompt({ messages: [{ role: 'user', content: 'Hello {{name}}' }] });
    const answer = await harness.invoke(twin, { ...body, version: 1 }, cacheControl('max-age=60'));
    expect(origin(answer)).toEqual(hit);
    const { body: stored } = await harness.service.call('GET', `/api/v1/prompts/${twin}`);
    expect(answer.headers).toMatchObject({ 'x-prompt-id': stored.id, 'x-prompt-version': '1' });
  });

  it('does not serve an edited prompt', async () => {
    const edited = await harness.createPrompt({ messages: [{ role: 'user', content: 'before the edit' }] });
    await harness.invoke(edited, {}, cacheControl('max-age=60'));
    await harness.service.call('PUT', `/api/v1/prompts/${edited}`, {
      body: { messages: [{ role: 'user', content: 'after the edit' }] },
    });
    expect(origin(await harness.invoke(edited, {}, cacheControl('max-age=60')))).toEqual(fresh);
  });

  it('stores no failures', async () => {
    const body = somethingNew();
    harness.mock.behave('model-a', { kind: 'status', status: 400 });
    expect((await harness.invoke(prompt, body, cacheControl('max-age=60'))).status).toBe(502);
    expect(origin(await harness.invoke(prompt, body, cacheControl('max-age=60')))).toEqual(fresh);
  });

  it('is counted', async () => {
    const count = (result: string): Promise<number> => harness.metric(`invoke_cache_total{result="${result}"}`);
    const before = [await count('hit'), await count('miss')];
    const body = somethingNew();
    await harness.invoke(prompt, body);
    for (let times = 0; times < 3; times += 1) await harness.invoke(prompt, body, cacheControl('max-age=60'));
    expect([await count('hit'), await count('miss')]).toEqual([(before[0] ?? 0) + 2, (before[1] ?? 0) + 1]);
  });
});

describe('settings', () => {
  it('can give invocations without directives a default age', async () => {
    const cached = await startInvokeHarness({ environment: { INVOKE_CACHE_MAX_AGE: '60' }, clock });
    try {
      const slug = await cached.createPrompt();
      expect(origin(await cached.invoke(slug))).toEqual(fresh);
      expect(origin(await cached.invoke(slug))).toEqual(hit);
      expect(origin(await cached.invoke(slug, {}, cacheControl('no-store')))).toEqual(fresh);
      clock.advance(60_001);
      expect((await cached.invoke(slug, {}, cacheControl('only-if-cached'))).status).toBe(504);
      const aged = [200, 'true', expect.stringMatching(/^6\d$/)];
      expect(origin(await cached.invoke(slug, {}, cacheControl('max-age=120')))).toEqual(aged);
      expect(origin(await cached.invoke(slug))).toEqual(fresh);
    } finally {
      await cached.close();
    }
  });

  it('can turn the cache off', async () => {
    const uncached = await startInvokeHarness({ environment: { INVOKE_CACHE_MAX_MB: '0' } });
    try {
      const slug = await uncached.createPrompt();
      expect(origin(await uncached.invoke(slug, {}, cacheControl('max-age=60')))).toEqual(fresh);
      expect(origin(await uncached.invoke(slug, {}, cacheControl('max-age=60')))).toEqual(fresh);
    } finally {
      await uncached.close();
    }
  });
});
