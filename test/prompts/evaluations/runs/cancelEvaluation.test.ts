import { describe, expect, it } from '@jest/globals';
import { until } from '../../../support/until.ts';
import { create, saying } from '../../prompts-harness.ts';
import {
  createDataset,
  createEchoPrompt,
  ended,
  evaluationPath,
  reached,
  resultsOf,
  sayCase,
  setUpEvaluations,
  startEvaluation,
} from './evaluations-harness.ts';

const harness = setUpEvaluations();

describe('200', () => {
  it('ends what runs, with its calls, and what waits', async () => {
    const { service, mock } = harness;
    const selected = { selected_provider: 'mock', selected_model: 'mock-hang' };
    const { id: prompt } = await create(service, { ...saying('Hi'), ...selected });
    const dataset = { name: await createDataset(service, 'hanging', ['{"id":"one"}']) };
    const checks = [{ type: 'contains', value: 'Hello' }];
    const body = { candidate: {}, dataset, checks, rule: { all_pass: true } };
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push(await startEvaluation(service, prompt, body));
    await until(() => mock.requests.length === 2);
    for (const id of ids) {
      await reached(service, id, 'running', 'queued');
      const { status, body: canceled } = await service.call('POST', `${evaluationPath(id)}/cancel`);
      expect([status, canceled]).toMatchObject([
        200,
        { id, status: 'canceled', canceled_reason: 'requested', finished_at: expect.any(String) },
      ]);
      expect(canceled).not.toHaveProperty('verdict');
      expect(await resultsOf(service, id)).toEqual([]);
    }
    await until(() => mock.requests.slice(0, 2).every(({ aborted }) => aborted));
    const { body: log } = await service.call('GET', `/api/v1/audit-log?resource_type=evaluation&resource_id=${ids[0]}`);
    expect(log.data.map(({ operation }: { operation: string }) => operation)).toEqual([
      'cancelEvaluation',
      'createEvaluation',
    ]);
    expect(log.data[0]).toMatchObject({ before: { status: 'running' }, after: { status: 'canceled' } });
  });

  it('changes nothing if it has ended', async () => {
    const { service } = harness;
    const dataset = { name: await createDataset(service, 'over', [sayCase('one', 'good')]) };
    const body = { candidate: {}, dataset, rule: { all_pass: true } };
    const id = await startEvaluation(service, await createEchoPrompt(service), body);
    const before = await ended(service, id);
    const { status, body: after } = await service.call('POST', `${evaluationPath(id)}/cancel`);
    expect([status, after]).toEqual([200, before]);
  });
});
