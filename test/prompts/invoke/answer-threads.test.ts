import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from '../../support/service.ts';
import { createDataset } from '../evaluations/runs/evaluations-harness.ts';
import { startInvokeHarness, type InvokeHarness } from './invoke-harness.ts';

/** Here a check that does not end takes a day. */
let harness: InvokeHarness;
let attacker: string;
let other: string;
let prompt: string;

/** It matches no text of many `a` with another end, after 2^100 steps. */
const pattern = '^(a+)+$';
const slow = `${'a'.repeat(100)}!`;
const endless = { response_format: { type: 'json', schema: { pattern } }, variables: { name: JSON.stringify(slow) } };

beforeAll(async () => {
  harness = await startInvokeHarness();
  const { service } = harness;
  attacker = await service.createKey('prompts:read', 'prompts:invoke', 'prompts:override', 'datasets:read');
  other = await service.createKey('prompts:invoke', 'prompts:override');
  prompt = await harness.createPrompt({ messages: [{ role: 'user', content: '{{name}}' }] });
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
});

/** A JSON answer of `echo` that has to match a schema. */
async function valid(key: string): Promise<Answer> {
  const response_format = { type: 'json', schema: { type: 'object' } };
  return harness.invoke(prompt, { provider: 'echo', response_format, variables: { name: '{}' } }, {}, key);
}

/** Sends a request of the attacker whose check does not end. @returns what ends it */
async function attack(more: object = {}): Promise<() => void> {
  const controller = new AbortController();
  const count = harness.mock.requests.length;
  harness.mock.behave('model-a', { kind: 'stream', steps: [{ text: JSON.stringify(slow) }, { finish: 'stop' }] });
  const headers = { authorization: `Bearer ${attacker}` };
  const answer = harness.invokeUntil(controller.signal, prompt, { ...endless, ...more }, headers);
  const ended = answer.then((response) => response.text()).catch(() => undefined);
  await (
    await harness.received(count + 1)
  ).ended;
  return () => {
    controller.abort();
    void ended;
  };
}

describe.each([
  ['whole answers', {}],
  ['streams', { stream: true }],
])('schemas of a key for %s', (_, more) => {
  it('do not hold the threads of other keys, and are left by their requests', async () => {
    const leave = [await attack(more), await attack(more), await attack(more)];
    for (let count = 0; count < 3; count += 1) expect((await valid(other)).body.object).toEqual({});
    for (const each of leave) each();
    expect((await valid(attacker)).body.object).toEqual({});
  });
});

describe('an evaluation', () => {
  it('does not hold the threads of other keys, comes after answers of its key, and ends when it is canceled', async () => {
    const { service } = harness;
    const lines = Array.from({ length: 8 }, (_, index) =>
      JSON.stringify({ id: `${index}`, variables: { name: slow } }),
    );
    const dataset = { name: await createDataset(service, 'slow', lines) };
    const checks = Array.from({ length: 3 }, () => ({ type: 'regex', value: pattern }));
    const candidate = { provider: 'echo', model: 'echo-1' };
    const body = { candidate, dataset, checks, rule: { all_pass: true } };
    const started = await service.call('POST', `/api/v1/prompts/${prompt}/evaluations`, { body, key: attacker });
    expect(started.status).toBe(202);
    for (let count = 0; count < 20; count += 1) expect((await valid(other)).body.object).toEqual({});
    const waiting = valid(attacker);
    const { status } = await service.call('POST', `/api/v1/evaluations/${started.body.id}/cancel`);
    expect(status).toBe(200);
    expect((await waiting).body.object).toEqual({});
    expect((await valid(attacker)).body.object).toEqual({});
  });
});

describe('the deadline of a request', () => {
  it('ends the check; the answer is not verified', async () => {
    harness.mock.behave('model-a', { kind: 'stream', steps: [{ text: JSON.stringify(slow) }, { finish: 'stop' }] });
    const { status, body } = await harness.invoke(prompt, endless, { 'X-Timeout-Ms': '3000' }, attacker);
    expect([status, body.text, body.object]).toEqual([200, JSON.stringify(slow), slow]);
    expect(body.warnings).toMatchObject([{ code: 'unverified-object' }]);
    expect((await valid(attacker)).body.object).toEqual({});
  });
});
