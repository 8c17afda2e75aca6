import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createMemoryBudget } from '../../../src/base/limits/memory-budget.ts';
import { createKeptBytes } from '../../../src/base/limits/kept-bytes.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';

describe('a budget', () => {
  const options = { perKey: 100, perProcess: 200 };

  it('gives a key half of the memory at most, and no more than it leaves free for others', () => {
    const budget = createMemoryBudget(options);
    const releases = [budget.reserve('a', 50), budget.reserve('a', 50)];
    expect(() => budget.reserve('a', 1)).toThrow(
      expect.objectContaining({ type: 'too-much-in-progress', status: 429 }),
    );
    releases.push(budget.reserve('b', 50));
    expect(() => budget.reserve('b', 1)).toThrow(expect.objectContaining({ type: 'too-much-in-progress' }));
    budget.reserve('c', 50);
    expect(() => budget.reserve('d', 1)).toThrow(expect.objectContaining({ type: 'overloaded', status: 503 }));
    releases[0]?.();
    releases[0]?.(); // The second call has no effect.
    budget.reserve('d', 50);
    expect(() => budget.reserve('e', 1)).toThrow(expect.objectContaining({ type: 'overloaded' }));
  });

  it("counts a size above half of a key's share as that half", () => {
    const budget = createMemoryBudget(options);
    const release = budget.reserve('a', 1_000);
    budget.reserve('a', 50);
    release();
    budget.reserve('a', 1_000);
    expect(() => budget.reserve('a', 1)).toThrow(expect.objectContaining({ type: 'too-much-in-progress' }));
  });

  it('lets a request wait for the memory of its body and its call, which are counted together', async () => {
    const megabyte = 1024 * 1024;
    const never = new AbortController().signal;
    const budget = createMemoryBudget({ perKey: 80 * megabyte, perProcess: 160 * megabyte, waitLimitMs: 20 });
    const request = budget.forRequest('a');
    await request.cover(45 * megabyte, never);
    const giveBack = await request.cover(45 * megabyte + 1_000, never);
    expect(request.held).toBe(45 * megabyte + 1_000);
    giveBack();
    await request.cover(40 * megabyte, never);
    expect(request.held).toBe(45 * megabyte);
    const other = budget.forRequest('a');
    await expect(other.cover(20 * megabyte, never)).rejects.toMatchObject({ type: 'too-much-in-progress' });
    await budget.forRequest('b').cover(40 * megabyte, never);
    await expect(budget.forRequest('c').cover(20 * megabyte, never)).rejects.toMatchObject({ type: 'overloaded' });
    budget.reserve('c', megabyte);
    // The work of a request can outlive it.
    const leave = request.keep();
    request.release();
    await expect(other.cover(20 * megabyte, never)).rejects.toMatchObject({ type: 'too-much-in-progress' });
    leave();
    await other.cover(20 * megabyte, never);
  });

  it('gives at most a quarter of all memory to bodies that are being read', async () => {
    const never = new AbortController().signal;
    const budget = createMemoryBudget({ perKey: 80, perProcess: 160, waitLimitMs: 20 });
    const release = await budget.awaitBody('a', 30, never);
    const waiting = budget.awaitBody('b', 20, never);
    expect(budget.isBodyAwaited).toBe(true);
    await expect(waiting).rejects.toMatchObject({ type: 'overloaded' });
    release();
    await budget.awaitBody('b', 20, never);
    expect(budget.isBodyAwaited).toBe(false);
  });

  it('counts answers that are in memory even above the limit, and leaves an eighth for small requests', () => {
    const budget = createMemoryBudget({ perKey: 80, perProcess: 160 });
    const release = budget.hold('a', 1_000);
    expect(budget.use.reserved).toBe(1_000);
    expect(() => budget.reserveLarge('b', 1)).toThrow(expect.objectContaining({ type: 'overloaded' }));
    // A key with large answers has its part of the reserve, too, and leaves as much.
    budget.reserve('a', 10);
    expect(() => budget.reserve('a', 1)).toThrow(expect.objectContaining({ type: 'too-much-in-progress' }));
    budget.reserve('b', 10);
    expect(() => budget.reserve('c', 1)).toThrow(expect.objectContaining({ type: 'overloaded' }));
    release();
    budget.reserve('c', 10);
    budget.reserveLarge('b', 50);
  });

  it('gives large answers to a key until it would leave less for the others', () => {
    const budget = createMemoryBudget({ perKey: 80, perProcess: 160 });
    const mostOf = (key: string): number => {
      for (let count = 0; ; count += 1) {
        try {
          budget.reserveLarge(key, 1);
        } catch (error) {
          expect(error).toMatchObject({ type: 'too-much-in-progress' });
          return count;
        }
      }
    };
    // Of 100 for large requests.
    expect(['a', 'b', 'c'].map(mostOf)).toEqual([50, 25, 12]);
    expect(() => budget.reserveLarge('d', 20)).toThrow(expect.objectContaining({ type: 'overloaded' }));
    budget.reserveLarge('d', 13);
  });
});

describe('kept bytes', () => {
  const hour = 3_600_000;
  let now = 0;
  const kept = createKeptBytes({ perKey: 100, perProcess: 150, monotonic: () => now });

  it('are refused beyond the limits, until the oldest have expired', () => {
    kept.add('a', 60);
    now = 2 * hour;
    kept.check('a');
    kept.add('a', 60);
    const tooMuch = { type: 'too-much-kept', headers: { 'Retry-After': String(23 * 3_600) } };
    expect(() => kept.check('a')).toThrow(expect.objectContaining(tooMuch));
    kept.check('b');
    kept.add('b', 60);
    expect(() => kept.check('b')).toThrow(expect.objectContaining({ type: 'overloaded' }));
    now = 25 * hour;
    kept.check('a');
    kept.check('b');
  });
});

describe('over HTTP', () => {
  let harness: InvokeHarness;
  let prompt: string;
  beforeAll(async () => {
    harness = await startInvokeHarness({ environment: { REQUEST_MEMORY_MB: '16', KEPT_ANSWERS_MB: '16' } });
    prompt = await harness.createPrompt({ messages: [{ role: 'user', content: '{{text}}' }] });
  });
  afterAll(() => harness.close());

  const large = { variables: { text: 'x'.repeat(900_000) } };

  it('large invocations of one key wait for each other, and small ones and other keys are served meanwhile', async () => {
    const first = harness.invoke(prompt, { ...large, model: 'mock-held' });
    await harness.received(1);
    const second = harness.invoke(prompt, large);
    const key = await harness.service.createKey('prompts:invoke');
    for (const sender of [undefined, key]) {
      expect((await harness.invoke(prompt, { variables: { text: 'small' } }, {}, sender)).status).toBe(200);
    }
    expect(harness.mock.requests).toHaveLength(3);
    harness.mock.release();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    await sleep(50); // The memory of an answer is free when it was passed to the connection.
    expect((await harness.invoke(prompt, large)).status).toBe(200);
  });

  it('answers are stored up to the share of a key; stored answers are replayed', async () => {
    const random = (): string =>
      Buffer.from(crypto.getRandomValues(new Uint8Array(65_536)))
        .toString('hex')
        .repeat(1);
    const text = Array.from({ length: 6 }, random).join('');
    const body = { variables: { text }, provider: 'echo' };
    const send = (key: string, sent = body): ReturnType<InvokeHarness['invoke']> =>
      harness.invoke(prompt, sent, { 'Idempotency-Key': key });
    let kept = 0;
    let answer = await send('kept-0');
    for (; answer.status === 200 && kept < 100; answer = await send(`kept-${(kept += 1)}`)) await sleep(1);
    // Random hexadecimal digits compress to slightly more than half of 786,432 bytes.
    expect(kept).toBeGreaterThan(10);
    expect(kept).toBeLessThan(22);
    expect([answer.status, problemOf(answer)]).toEqual([429, 'too-much-kept']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(3_600);
    const replay = await send('kept-0');
    expect([replay.status, replay.headers['idempotency-replayed']]).toEqual([200, 'true']);
    expect(replay.body.text === text).toBe(true);
    const run = (sentBy: string): ReturnType<InvokeHarness['invoke']> =>
      harness.service.call('POST', `/api/v1/prompts/${prompt}/test`, {
        key: sentBy,
        body: { providers: [{ provider: 'echo' }], variables: { text: 'x' } },
      });
    const refused = await run(harness.service.adminKey);
    expect([refused.status, problemOf(refused)]).toEqual([429, 'too-much-kept']);
    const without = await harness.invoke(prompt, body);
    expect(without.status).toBe(200);
    const key = await harness.service.createKey('prompts:invoke');
    const other = await harness.invoke(prompt, body, { 'Idempotency-Key': 'kept-0' }, key);
    expect(other.status).toBe(200);
    expect((await run(key)).status).toBe(201);
  });
});
