import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import { problem } from '../../support/per-operation.ts';
import { counting, createGreeting, greet, pointsWith, untilTotals } from './statistics-harness.ts';

let harness: InvokeHarness;
beforeAll(async () => {
  harness = await startInvokeHarness(counting);
});
afterAll(() => harness.close());

const none = {
  errors: 0,
  cached: 0,
  canceled: 0,
  interrupted: 0,
  input_tokens: 0,
  output_tokens: 0,
  without_usage: 0,
  cost: { amount: '0', currency: 'USD' },
  without_cost: 0,
};

describe('200', () => {
  it('counts invocations in total and by version, the latest version first', async () => {
    const { service } = harness;
    const prompt = await createGreeting(service);
    await greet(service, prompt);
    await service.call('PUT', prompt, { body: { messages: [{ role: 'user', content: 'Good morning {{name}}' }] } });
    await greet(service, prompt);
    await greet(service, prompt);
    await greet(service, prompt, { version: 1 });
    const body = await untilTotals(service, `${prompt}/statistics`, { invocations: 4 });
    const latency = expect.any(Number);
    expect(body.totals).toEqual({
      at: body.points[0].at,
      invocations: 4,
      errors: 1,
      cached: 0,
      canceled: 0,
      interrupted: 0,
      input_tokens: 8,
      output_tokens: 8,
      without_usage: 0,
      cost: { amount: '0', currency: 'USD' },
      without_cost: 0,
      average_latency_ms: latency,
    });
    expect(body.versions).toEqual([
      { version: 2, totals: expect.objectContaining({ invocations: 2, errors: 0 }), points: expect.any(Array) },
      { version: 1, totals: expect.objectContaining({ invocations: 2, errors: 1 }), points: expect.any(Array) },
    ]);
    for (const { totals, points } of body.versions) {
      expect(points).toHaveLength(60);
      expect(pointsWith({ points }, 'invocations').reduce((sum, [, count]) => sum + count, 0)).toBe(totals.invocations);
    }
    const day = await untilTotals(service, `${prompt}/statistics?span=day`, { invocations: 4 });
    expect([day.interval_seconds, day.points.length, day.versions.length]).toEqual([900, 96, 2]);
  });

  it('counts answers from the cache, without tokens and latency', async () => {
    const { service } = harness;
    const prompt = await createGreeting(service);
    const cached = { 'Cache-Control': 'max-age=60' };
    const body = { variables: { name: 'cache' } };
    await greet(service, prompt, body, cached);
    await greet(service, prompt, body, cached);
    const { totals } = await untilTotals(service, `${prompt}/statistics`, { invocations: 2 });
    expect(totals).toMatchObject({ errors: 0, cached: 1, input_tokens: 2, output_tokens: 2 });
  });

  it('shows the mean latency of the answers from providers', async () => {
    const { service, mock } = harness;
    const slug = await harness.createPrompt();
    mock.behave('model-a', { kind: 'answer', delay: 40 });
    const { headers } = await harness.invoke(slug);
    const record = await service.call('GET', `/api/v1/invocations/${headers['x-invocation-id']}`);
    const { totals } = await untilTotals(service, `/api/v1/prompts/${slug}/statistics`, { invocations: 1 });
    expect(totals.average_latency_ms).toBe(record.body.latency_ms);
  });

  it('has no latency if there was no answer', async () => {
    const { service } = harness;
    const prompt = await createGreeting(service);
    const { body } = await service.call('GET', `${prompt}/statistics`);
    expect(body.totals).toEqual({ at: body.points[0].at, invocations: 0, ...none });
    expect(body.versions).toEqual([]);
    await greet(service, prompt, {});
    const failed = await untilTotals(service, `${prompt}/statistics`, { invocations: 1 });
    expect(failed.totals).toEqual({ at: failed.points[0].at, invocations: 1, ...none, errors: 1 });
  });

  it('counts an invocation once if it is repeated with its Idempotency-Key', async () => {
    const { service } = harness;
    const prompt = await createGreeting(service);
    const headers = { 'Idempotency-Key': 'once' };
    const body = { variables: { name: 'World' } };
    await greet(service, prompt, body, headers);
    expect((await greet(service, prompt, body, headers)).headers['idempotency-replayed']).toBe('true');
    await greet(service, prompt);
    await untilTotals(service, `${prompt}/statistics`, { invocations: 2 });
  });
});

describe('400', () => {
  it.each(['span=week', 'version=1'])('refuses %s', async (query) => {
    const prompt = await createGreeting(harness.service);
    expect((await harness.service.call('GET', `${prompt}/statistics?${query}`)).status).toBe(400);
  });
});

describe('404', () => {
  it('does not exist after the prompt was deleted', async () => {
    const { service } = harness;
    const prompt = await createGreeting(service);
    await greet(service, prompt);
    await untilTotals(service, `${prompt}/statistics`, { invocations: 1 });
    await service.call('DELETE', prompt);
    const { status, body } = await service.call('GET', `${prompt}/statistics`);
    expect([status, body.type]).toEqual([404, problem('prompt-not-found')]);
  });
});
