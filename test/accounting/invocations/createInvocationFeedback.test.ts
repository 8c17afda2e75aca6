import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createInvocationId } from '../../../src/accounting/invocations/invocation-id.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import { openDatabaseOf } from '../../support/per-operation.ts';
import type { Answer, CallOptions } from '../../support/service.ts';
import { until } from '../../support/until.ts';

let harness: InvokeHarness;
beforeAll(async () => {
  harness = await startInvokeHarness({ statisticsEveryMs: 50 });
});
afterAll(() => harness.close());

const path = '/api/v1/invocations';
const rate = (id: string, body: unknown, options: CallOptions = {}): Promise<Answer> =>
  harness.service.call('POST', `${path}/${id}/feedback`, { body, ...options });
const invoke = async (slug: string): Promise<string> => (await harness.invoke(slug)).headers['x-invocation-id'] ?? '';

describe('201', () => {
  it('is listed with the invocation, the latest first', async () => {
    const id = await invoke(await harness.createPrompt());
    const first = await rate(id, { score: -0.5, name: 'tone', comment: 'too short' });
    expect(first.status).toBe(201);
    expect(first.headers['location']).toBe(`${path}/${id}`);
    expect(first.body).toEqual({
      id: expect.any(String),
      score: -0.5,
      name: 'tone',
      comment: 'too short',
      author: { type: 'key', id: 'administrator', name: 'administrator' },
      created_at: expect.any(String),
    });
    const second = await rate(id, { score: 1 });
    const feedback = [second.body, first.body];
    const { body } = await harness.service.call('GET', `${path}/${id}`);
    expect(body.feedback.toSorted(byScore)).toEqual(feedback.toSorted(byScore));
    expect((await harness.service.call('GET', path)).body.data[0].feedback).toBeUndefined();
  });

  it('is counted by version, once for an Idempotency-Key', async () => {
    const slug = await harness.createPrompt();
    const old = await invoke(slug);
    await harness.service.call('PUT', `/api/v1/prompts/${slug}`, {
      body: { messages: [{ role: 'user', content: 'Good day' }] },
    });
    const headers = { 'Idempotency-Key': 'thumb' };
    const once = await rate(old, { score: -1 }, { headers });
    const again = await rate(old, { score: -1 }, { headers });
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([201, once.text, 'true']);
    const latest = await invoke(slug);
    for (const score of [1, 0.5]) await rate(latest, { score });
    const statistics = `/api/v1/prompts/${slug}/statistics`;
    const { body } = await until(
      () => harness.service.call('GET', statistics),
      (answer) => answer.body.totals.feedback === 3,
    );
    expect(body.totals.average_score).toBeCloseTo(0.167, 3);
    const versions = body.versions as { version: number; totals: { feedback: number; average_score: number } }[];
    expect(versions.map(({ version, totals }) => [version, totals.feedback, totals.average_score])).toEqual([
      [2, 2, 0.75],
      [1, 1, -1],
    ]);
  });

  it('is removed with the record', async () => {
    const id = await invoke(await harness.createPrompt());
    const { body } = await rate(id, { score: 1 });
    const database = await openDatabaseOf(harness.service);
    const stored = await database.db
      .collection<{ _id: string; expires_at: Date }>('feedback')
      .findOne({ _id: body.id as string });
    await database.close();
    const days = ((stored?.expires_at.getTime() ?? 0) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(30.9);
    expect(days).toBeLessThan(31.1);
  });

  it('can be given by another key that may use the prompt, and by no other', async () => {
    const [own, foreign] = [await harness.createPrompt(), await harness.createPrompt()];
    const prompt = await harness.service.call('GET', `/api/v1/prompts/${own}`);
    const made = await harness.service.call('POST', '/api/v1/api-keys', {
      body: { name: 'front end', scopes: ['prompts:invoke'], limits: { prompts: [prompt.body.id] } },
    });
    const key = String(made.body.key);
    expect((await rate(await invoke(own), { score: 1 }, { key })).status).toBe(201);
    expect(problemOf(await rate(await invoke(foreign), { score: 1 }, { key }))).toBe('invocation-not-found');
  });
});

function byScore(one: { score: number }, other: { score: number }): number {
  return one.score - other.score;
}

it.each([{}, { score: 1.5 }, { score: -2 }, { score: 'good' }, { score: 1, name: 'a b' }, { score: 1, stars: 5 }])(
  '400: %j',
  async (body) => {
    expect(problemOf(await rate(await invoke(await harness.createPrompt()), body))).toBe('invalid-request');
  },
);

it('404', async () => {
  const unknown = createInvocationId(new Date(), '5d9f1b7e-8c24-4a63-b0f1-9e7d2c6a4f38');
  expect(problemOf(await rate(unknown, { score: 1 }))).toBe('invocation-not-found');
});
