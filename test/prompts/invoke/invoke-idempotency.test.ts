import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { problemOf, startInvokeHarness, type InvokeHarness } from './invoke-harness.ts';

let harness: InvokeHarness;
let prompt: string;

beforeAll(async () => {
  harness = await startInvokeHarness();
  prompt = await harness.createPrompt();
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
});

const withKey = (key: string): Record<string, string> => ({ 'Idempotency-Key': key });

describe('an invocation with an idempotency key', () => {
  it('calls the provider once for 100 requests at the same time', async () => {
    const send = (): ReturnType<InvokeHarness['invoke']> =>
      harness.invoke(prompt, { model: 'mock-slow-200' }, withKey('burst'));
    const answers = await Promise.all(Array.from({ length: 100 }, send));
    expect(harness.mock.requests).toHaveLength(1);
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
    expect(statuses).toContain(200);
    for (const answer of answers.filter(({ status }) => status === 409)) {
      expect(problemOf(answer)).toBe('idempotency-key-in-use');
      expect(answer.headers['retry-after']).toMatch(/^[1-5]$/);
    }
    const firsts = answers.filter((answer) => answer.status === 200 && !('idempotency-replayed' in answer.headers));
    expect(firsts).toHaveLength(1);
  });

  it('replays the complete first answer', async () => {
    const body = { version: 1, variables: { name: 'Ada' } };
    const first = await harness.invoke(prompt, body, withKey('replay'));
    const replay = await harness.invoke(prompt, body, withKey('"replay"'));
    expect(replay.text).toBe(first.text);
    const fields = [
      'x-prompt-id',
      'x-provider',
      'x-model',
      'x-latency-ms',
      'x-cached',
      'x-prompt-version',
      'x-served-version',
    ];
    for (const name of fields) expect([name, replay.headers[name]]).toEqual([name, first.headers[name]]);
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    expect(replay.headers['idempotency-replayed']).toBe('true');
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('accepts the same JSON in another order as the same request', async () => {
    await harness.invoke(prompt, '{"model":"model-a","variables":{"a":1,"b":2}}', withKey('order'));
    const replay = await harness.invoke(prompt, '{"variables":{"b":2,"a":1},"model":"model-a"}', withKey('order'));
    expect(replay.headers['idempotency-replayed']).toBe('true');
  });

  it('refuses another body', async () => {
    await harness.invoke(prompt, {}, withKey('other-body'));
    const answer = await harness.invoke(prompt, { model: 'model-b' }, withKey('other-body'));
    expect([answer.status, problemOf(answer)]).toEqual([422, 'idempotency-key-reused']);
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('frees the key when it fails', async () => {
    harness.mock.behave('model-a', { kind: 'status', status: 400 });
    expect((await harness.invoke(prompt, {}, withKey('failure'))).status).toBe(502);
    expect((await harness.invoke(prompt, { version: 9 }, withKey('failure'))).status).toBe(404);
    const answer = await harness.invoke(prompt, {}, withKey('failure'));
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty('idempotency-replayed');
  });

  it('belongs to the prompt and to the API key of the caller', async () => {
    const other = await harness.createPrompt();
    const key = await harness.service.createKey('prompts:invoke');
    await harness.invoke(prompt, {}, withKey('mine'));
    await harness.invoke(other, {}, withKey('mine'));
    await harness.invoke(prompt, {}, withKey('mine'), key);
    expect(harness.mock.requests).toHaveLength(3);
  });
});
