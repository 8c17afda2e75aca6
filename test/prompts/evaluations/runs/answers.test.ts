import { describe, expect, it } from '@jest/globals';
import { setBudget, usd } from '../../../accounting/budgets/budgets-harness.ts';
import type { Answer } from '../../../support/service.ts';
import { create, saying } from '../../prompts-harness.ts';
import {
  createDataset,
  ended,
  evaluationsPath,
  resultsOf,
  setUpEvaluations,
  startEvaluation,
} from './evaluations-harness.ts';

const harness = setUpEvaluations({ environment: { PROVIDER_CONCURRENCY: '10' } });
const checks = [{ type: 'contains', value: 'Hello' }];

/** Evaluates a prompt on a model of the mock provider with so many cases. @returns the evaluation, and its results */
async function evaluate(
  model: string,
  cases: number,
  prompt: Record<string, unknown> = {},
): Promise<{ evaluation: Answer['body']; results: Answer['body'][] }> {
  const { service } = harness;
  const selected = { selected_provider: 'mock', selected_model: model };
  const { id } = await create(service, { ...saying('Hi'), ...selected, ...prompt });
  const lines = Array.from({ length: cases }, (_, index) => `{"id":"${index}"}`);
  const dataset = { name: await createDataset(service, `of-${id}`, lines) };
  const body = { candidate: {}, dataset, checks, rule: { all_pass: true } };
  const started = await startEvaluation(service, id, body);
  return { evaluation: await ended(service, started), results: await resultsOf(service, started) };
}

describe('an answer that callers could not use does not pass', () => {
  it('because it is cut by its length', async () => {
    harness.mock.behave('mock-cut-short', { kind: 'answer', finish: 'length' });
    const { evaluation, results } = await evaluate('mock-cut-short', 1);
    expect(evaluation.verdict).toMatchObject({ outcome: 'failed', units: 1, errors: 0, passed: 0 });
    expect(results).toMatchObject([
      { outcome: 'failed', candidate: { passed: false, failure: 'cut', answer: { finishReason: 'length' } } },
    ]);
  });

  it('because it is filtered', async () => {
    harness.mock.behave('mock-filtered', { kind: 'answer', finish: 'content-filter' });
    const { results } = await evaluate('mock-filtered', 1);
    expect(results).toMatchObject([{ outcome: 'failed', candidate: { passed: false, failure: 'filtered' } }]);
  });

  it('because it breaks its format; it is not asked again unless the prompt says so', async () => {
    const format = { response_format: { type: 'json' } };
    const { results } = await evaluate('model-a', 1, format);
    expect(results).toMatchObject([
      {
        outcome: 'failed',
        candidate: {
          passed: false,
          failure: 'broken-format',
          answer: { text: 'Hello from model-a.' },
          error: { type: 'urn:prompt-gateway:problem:provider-bad-answer' },
        },
      },
    ]);
    expect(harness.mock.requests).toHaveLength(1);
    await evaluate('model-a', 1, { ...format, retries: 1 });
    expect(harness.mock.requests).toHaveLength(3);
  });

  it('because the provider refuses the request', async () => {
    const { results } = await evaluate('mock-400', 1);
    expect(results).toMatchObject([
      { outcome: 'failed', candidate: { passed: false, failure: 'refused', error: { provider_status: 400 } } },
    ]);
    expect(harness.mock.requests).toHaveLength(1);
  });
});

describe('another failure', () => {
  it('is repeated twice, and then forgotten', async () => {
    harness.mock.behave('mock-unsteady', { kind: 'cut' }, { kind: 'status', status: 500 });
    const { evaluation, results } = await evaluate('mock-unsteady', 1);
    expect(evaluation.verdict.outcome).toBe('passed');
    expect(results).toMatchObject([{ outcome: 'passed', candidate: { passed: true } }]);
    expect(results[0].candidate).not.toHaveProperty('error');
    expect(harness.mock.requests).toHaveLength(3);
    // Each was an invocation of its own.
    const { body } = await harness.service.call('GET', `/api/v1/invocations?evaluation_id=${evaluation.id}`);
    expect(body.data.map(({ status }: { status: string }) => status)).toEqual(['succeeded', 'failed', 'failed']);
  });

  it('is an error if it stays, by which nothing can be decided', async () => {
    const { evaluation, results } = await evaluate('mock-500', 2);
    expect(evaluation.verdict).toMatchObject({ outcome: 'inconclusive', units: 2, errors: 2, passed: 0 });
    expect(evaluation.problems).toEqual([{ problem: 'urn:prompt-gateway:problem:provider-failed', answers: 2 }]);
    expect(results[0]).toMatchObject({
      outcome: 'error',
      candidate: {
        provider: 'mock',
        model: 'mock-500',
        error: { type: 'urn:prompt-gateway:problem:provider-failed', provider_status: 500 },
      },
    });
    expect(results[0].candidate).not.toHaveProperty('passed');
    expect(harness.mock.requests).toHaveLength(6);
  });

  it('is an error at once if the provider refuses the key', async () => {
    const { evaluation, results } = await evaluate('mock-401', 2);
    expect(evaluation.verdict).toMatchObject({ outcome: 'inconclusive', units: 2, errors: 2 });
    const error = { type: 'urn:prompt-gateway:problem:provider-refused-credentials' };
    expect(results).toMatchObject([
      { outcome: 'error', candidate: { error } },
      { outcome: 'error', candidate: { error } },
    ]);
    expect(harness.mock.requests).toHaveLength(2);
  });
});

describe('calls', () => {
  it('take a quarter of the places of a provider, rounded up', async () => {
    const { evaluation } = await evaluate('mock-slow-20', 40);
    expect([evaluation.verdict.outcome, harness.mock.requests.length]).toEqual(['passed', 40]);
    expect(harness.mock.mostConcurrent).toBe(3);
  });

  it('are answered by the model of the version, never by its fallbacks', async () => {
    const { results } = await evaluate('mock-500', 1, { fallbacks: [{ provider: 'echo' }] });
    expect(results).toMatchObject([{ outcome: 'error', candidate: { provider: 'mock' } }]);
  });

  it('cost what others cost, and end with the budget', async () => {
    const { service, mock } = harness;
    await service.call('PUT', '/api/v1/prices/mock/model-a', { body: { rates: [{ input: '0', output: '1000' }] } });
    const { evaluation: priced } = await evaluate('model-a', 4, { parameters: { max_output_tokens: 10 } });
    // Seven tokens for each.
    expect(priced).toMatchObject({ ceiling: usd('0.04'), cost: usd('0.028') });
    mock.reset();
    const { id } = await create(service, {
      ...saying('Hi'),
      ...{ selected_provider: 'mock', selected_model: 'model-a', parameters: { max_output_tokens: 10 } },
    });
    const body = { candidate: {}, dataset: { name: `of-${priced.prompt_id}` }, checks, rule: { all_pass: true } };
    await setBudget(service, 'small', { limit: usd('0.015'), scope: { prompt_id: id } });
    const stopped = await ended(service, await startEvaluation(service, id, body));
    expect(stopped).toMatchObject({ status: 'canceled', canceled_reason: 'budget-exceeded', refused_by: 'small' });
    expect(stopped).not.toHaveProperty('verdict');
    expect(mock.requests.length).toBeLessThan(4);
    // What was paid stays.
    const left = await resultsOf(service, stopped.id as string);
    expect(left).toHaveLength(stopped.cases_done as number);
  });
});

describe('the key', () => {
  it('ends its evaluation when it is revoked', async () => {
    const { service } = harness;
    const selected = { selected_provider: 'mock', selected_model: 'mock-slow-100' };
    const { id } = await create(service, { ...saying('Hi'), ...selected });
    const lines = Array.from({ length: 2_000 }, (_, index) => `{"id":"${index}"}`);
    const dataset = { name: await createDataset(service, 'long', lines) };
    const { body: made } = await service.call('POST', '/api/v1/api-keys', {
      body: { name: 'leaving', scopes: ['prompts:invoke', 'datasets:read'] },
    });
    const body = { candidate: {}, dataset, checks, rule: { all_pass: true } };
    const started = await service.call('POST', evaluationsPath(id), { body, key: made.key as string });
    await service.call('POST', `/api/v1/api-keys/${made.id}/revoke`);
    const stopped = await ended(service, started.body.id as string);
    expect(stopped).toMatchObject({ status: 'canceled', canceled_reason: 'key-revoked' });
  });
});
