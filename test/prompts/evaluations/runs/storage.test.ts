import { afterAll, describe, expect, it } from '@jest/globals';
import { startMockProvider } from '../../../support/mock-provider.ts';
import { startObjectStorage } from '../../../support/object-storage.ts';
import { startTestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { create, saying } from '../../prompts-harness.ts';
import { answersOf, answersPath, createJudge, mark } from '../judges/judges-harness.ts';
import {
  createDataset,
  createEvaluation,
  ended,
  evaluationPath,
  problemOf,
  resultsOf,
  startEvaluation,
  withMock,
} from './evaluations-harness.ts';

const bucket = await startObjectStorage();
const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, ...storage } = bucket.environment;
Object.assign(process.env, { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY });
const mock = await startMockProvider();
const service = await startTestService({ environment: { ...withMock(mock), ...storage } });
afterAll(async () => {
  mock.release();
  await service.close();
  await mock.close();
  await bucket.stop();
});
const checks = [{ type: 'contains', value: 'Hello' }];

describe('while the bucket is away', () => {
  it('an evaluation is refused before it is stored, and results are not read', async () => {
    const { id: prompt } = await create(service, { ...saying('Hi'), selected_provider: 'mock' });
    const dataset = { name: await createDataset(service, 'refused', ['{"id":"one"}']) };
    const body = { candidate: {}, dataset, checks, rule: { all_pass: true } };
    const id = await startEvaluation(service, prompt, body);
    await ended(service, id);
    await bucket.stop();
    for (const more of [{}, { dry_run: true }]) {
      const answer = await createEvaluation(service, prompt, { ...body, ...more });
      expect([answer.status, problemOf(answer)]).toEqual([503, 'storage-unavailable']);
    }
    const results = await service.call('GET', `${evaluationPath(id)}/results`);
    expect([results.status, problemOf(results)]).toEqual([503, 'storage-unavailable']);
    await bucket.restart();
    const { body: page } = await service.call('GET', `/api/v1/prompts/${prompt}/evaluations`);
    expect(page.data).toHaveLength(1);
  });

  it('answers are not shown to be marked, and no mark is stored', async () => {
    const { id: prompt } = await create(service, { ...saying('Hi'), selected_provider: 'echo' });
    const dataset = { name: await createDataset(service, 'marked', ['{"id":"one"}']) };
    const judge = await createJudge(service, '{"pass": true}');
    const judged = [{ type: 'llm-rubric', value: 'greets', judge }];
    const body = { candidate: {}, dataset, checks: judged, rule: { all_pass: true } };
    const id = await startEvaluation(service, prompt, body);
    await ended(service, id);
    const [answer] = await answersOf(service, id);
    await bucket.stop();
    const answers = [await service.call('GET', answersPath(id)), await mark(service, id, String(answer.id), true)];
    for (const one of answers) expect([one.status, problemOf(one)]).toEqual([503, 'storage-unavailable']);
    await bucket.restart();
  });

  it('a gate is not set, and starts no evaluation', async () => {
    const { id: prompt } = await create(service, { ...saying('Hi'), selected_provider: 'mock' });
    const name = await createDataset(service, 'gated', ['{"id":"one"}']);
    const gate = { dataset: { name, version: 1 }, checks, rule: { all_pass: true } };
    const path = `/api/v1/prompts/${prompt}/labels/production/gate`;
    expect((await service.call('PUT', path, { body: gate })).status).toBe(201);
    await bucket.stop();
    for (const [method, place, body] of [
      ['PUT', path.replace('production', 'staging'), gate],
      ['POST', `${path}/evaluations`, { version: 1 }],
    ] as const) {
      const answer = await service.call(method, place, { body });
      expect([answer.status, problemOf(answer)]).toEqual([503, 'storage-unavailable']);
    }
    await bucket.restart();
  });

  it('an evaluation that runs waits with its results, and asks nothing twice', async () => {
    const selected = { selected_provider: 'mock', selected_model: 'mock-held' };
    const { id: prompt } = await create(service, { ...saying('Hi'), ...selected });
    const lines = ['{"id":"one"}', '{"id":"two"}'];
    const dataset = { name: await createDataset(service, 'waiting', lines) };
    mock.reset();
    const id = await startEvaluation(service, prompt, { candidate: {}, dataset, checks, rule: { all_pass: true } });
    await until(() => mock.requests.length === 2);
    await bucket.stop();
    mock.release();
    await Promise.all(mock.requests.map((request) => request.ended));
    await bucket.restart();
    expect((await ended(service, id)).verdict).toMatchObject({ outcome: 'passed', units: 2 });
    expect(await resultsOf(service, id)).toHaveLength(2);
    expect(mock.requests).toHaveLength(2);
  });
});
