import { describe, expect, it } from '@jest/globals';
import { until } from '../../../support/until.ts';
import { create, saying } from '../../prompts-harness.ts';
import {
  createDataset,
  ended,
  evaluationPath,
  problemOf,
  reached,
  setUpEvaluations,
  startEvaluation,
} from './evaluations-harness.ts';

const harness = setUpEvaluations({ evaluationTimes: { storeEveryMs: 20 } });

describe('200', () => {
  it('says how far it is, and nothing of how cases went before the end', async () => {
    const { service, mock } = harness;
    const selected = { selected_provider: 'mock', selected_model: 'mock-held' };
    const { id: prompt } = await create(service, { ...saying('Hi'), ...selected });
    const dataset = { name: await createDataset(service, 'held', ['{"id":"one"}', '{"id":"two"}']) };
    const checks = [{ type: 'contains', value: 'Hello' }];
    const id = await startEvaluation(service, prompt, { candidate: {}, dataset, checks, rule: { all_pass: true } });
    const running = await reached(service, id, 'running');
    expect(running).toMatchObject({ calls: 2, cases_done: 0, started_at: expect.any(String) });
    expect(running).not.toHaveProperty('verdict');
    const first = await service.call('GET', evaluationPath(id));
    const tag = { 'If-None-Match': first.headers['etag'] ?? '' };
    expect((await service.call('GET', evaluationPath(id), { headers: tag })).status).toBe(304);
    mock.release();
    expect((await ended(service, id)).cases_done).toBe(2);
    expect((await service.call('GET', evaluationPath(id), { headers: tag })).status).toBe(200);
  });
});

describe('a case that takes long', () => {
  it('does not hold up the results of those before it', async () => {
    const { service, mock } = harness;
    const selected = { selected_provider: 'mock', selected_model: 'mock-waits' };
    const { id: prompt } = await create(service, { ...saying('Hi'), ...selected });
    const dataset = { name: await createDataset(service, 'slow', ['{"id":"one"}', '{"id":"two"}']) };
    const checks = [{ type: 'contains', value: 'Hello' }];
    mock.behave('mock-waits', { kind: 'answer' }, { kind: 'held' });
    const id = await startEvaluation(service, prompt, { candidate: {}, dataset, checks, rule: { all_pass: true } });
    const { body } = await until(
      () => service.call('GET', evaluationPath(id)),
      (answer) => answer.body.cases_done === 1,
    );
    expect(body.status).toBe('running');
    mock.release();
    expect(await ended(service, id)).toMatchObject({ cases_done: 2, verdict: { outcome: 'passed' } });
  });
});

describe('404', () => {
  it('finds none of a prompt that the key may not reach', async () => {
    const { service } = harness;
    const { id: prompt } = await create(service, { ...saying('Hi'), selected_provider: 'echo' });
    const { id: other } = await create(service, saying('Hi'));
    const dataset = { name: await createDataset(service, 'reached', ['{"id":"one"}']) };
    const checks = [{ type: 'contains', value: 'Hi' }];
    const id = await startEvaluation(service, prompt, { candidate: {}, dataset, checks, rule: { all_pass: true } });
    const keyOf = async (of: string): Promise<string> => {
      const body = { name: 'limited', scopes: ['prompts:read', 'prompts:invoke'], limits: { prompts: [of] } };
      return (await service.call('POST', '/api/v1/api-keys', { body })).body.key as string;
    };
    expect((await service.call('GET', evaluationPath(id), { key: await keyOf(prompt) })).status).toBe(200);
    for (const [method, path] of [
      ['GET', evaluationPath(id)],
      ['GET', `${evaluationPath(id)}/results`],
      ['POST', `${evaluationPath(id)}/cancel`],
    ] as const) {
      const answer = await service.call(method, path, { key: await keyOf(other) });
      expect([answer.status, problemOf(answer)]).toEqual([404, 'evaluation-not-found']);
    }
  });
});
