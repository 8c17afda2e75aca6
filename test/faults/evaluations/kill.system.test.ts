import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { startChildService } from '../../prompts/test-runs/child-service.ts';
import { create, saying } from '../../prompts/prompts-harness.ts';
import {
  createDataset,
  ended,
  evaluationPath,
  evaluationsPath,
  resultsOf,
  setUpEvaluations,
} from '../../prompts/evaluations/runs/evaluations-harness.ts';
import { startTestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

// This service takes no evaluation, and so does not help those that are killed.
const harness = setUpEvaluations({ evaluationTimes: { lookEveryMs: 3_600_000 } });
const cases = 400;

describe('kill -9 in the middle of an evaluation', () => {
  it('changes neither its verdict nor its results, and every case counts once', async () => {
    const { service, mock } = harness;
    const selected = { selected_provider: 'mock', selected_model: 'mock-slow-15' };
    const { id: prompt } = await create(service, { ...saying('{{say}}'), ...selected });
    const lines = Array.from({ length: cases }, (_, index) => {
      // What the candidate answers is in the name of its model, what the baseline answers in that of its own.
      const value = index % 10 === 0 ? 'slow-15' : index % 7 === 0 ? 'slow-16' : 'Hello';
      return JSON.stringify({ id: `${index}`, variables: { say: 'Hi' }, checks: [{ type: 'contains', value }] });
    });
    const dataset = { name: await createDataset(service, 'killed', lines) };
    const body = {
      candidate: {},
      baseline: { model: 'mock-slow-16' },
      dataset,
      rule: { not_worse_by: 0.05 },
    };
    const headers = { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json' };
    const start = async (url: string): Promise<string> => {
      const answer = await fetch(url + evaluationsPath(prompt), {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return ((await answer.json()) as { id: string }).id;
    };
    const outcomesOf = async (id: string): Promise<unknown[]> =>
      (await resultsOf(service, id)).map((line) => [line.case, line.outcome]).toSorted();

    const undisturbed = await start(service.url);
    const expected = await ended(service, undisturbed);
    expect(expected.verdict).toMatchObject({ units: cases, errors: 0, regressed: 52, improved: 40 });
    expect(mock.requests).toHaveLength(2 * cases);
    mock.reset();

    let child = await startChildService(service.environment);
    const id = await start(child.url);
    for (const requests of [30, 330]) {
      await until(() => mock.requests.length > requests);
      await child.kill();
      const { body: left } = await service.call('GET', evaluationPath(id));
      expect(left.status).toBe('running');
      expect(left).not.toHaveProperty('verdict');
      if (requests === 330) break;
      // Its lease has to become stale first.
      child = await startChildService(service.environment);
      await sleep(10);
    }
    const times = { lookEveryMs: 20, heartbeatMs: 100, staleMs: 1_000 };
    const survivor = await startTestService({ environment: service.environment, evaluationTimes: times });
    try {
      const { verdict, cases_done: done } = await ended(survivor, id);
      expect([verdict, done]).toEqual([expected.verdict, cases]);
      expect(await outcomesOf(id)).toEqual(await outcomesOf(undisturbed));
      expect(new Set((await outcomesOf(id)).map(String)).size).toBe(cases);
      // Only what was not entered is asked again: at most a hundred cases and those in progress, of each process.
      expect(mock.requests.length).toBeLessThan(2 * cases + 2 * 2 * 200);
    } finally {
      await survivor.close();
    }
  });
});
