import { describe, expect, it } from '@jest/globals';
import {
  createPrompt,
  hasResults,
  onEcho,
  onMock,
  problemOf,
  resultsPath,
  runPath,
  createTestRun,
  setUpTestRuns,
  startRun,
} from './test-runs-harness.ts';
import { until } from '../../support/until.ts';
import { observe } from './observer.ts';
import { systemClock } from '../../../src/base/runtime/clock.ts';
import { clockAhead } from '../../support/clock.ts';

const harness = setUpTestRuns();
const day = 24 * 60 * 60 * 1_000;

const remove = async (prompt: string): Promise<void> => {
  const answer = await harness.service.call('DELETE', `/api/v1/prompts/${prompt}`);
  expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
};
const documents = (): Promise<Record<string, unknown>[]> =>
  harness.database.db.collection('test_runs').find().toArray();

describe('deleting a prompt', () => {
  it('removes its runs with their results, and no others', async () => {
    const prompt = await createPrompt(harness.service);
    const other = await createPrompt(harness.service);
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1)
      ids.push((await createTestRun(harness.service, prompt, onEcho)).body.id as string);
    const { body: kept } = await createTestRun(harness.service, other, onEcho);
    await remove(prompt);
    for (const id of ids) {
      const answers = [
        await harness.service.call('GET', runPath(id)),
        await harness.service.call('GET', resultsPath(id)),
      ];
      expect(answers.map(problemOf)).toEqual(['test-run-not-found', 'test-run-not-found']);
      expect(await hasResults(harness.service, id)).toBe(false);
    }
    expect((await harness.service.call('GET', resultsPath(kept.id as string))).status).toBe(200);
  });

  it('removes any number of runs', async () => {
    const prompt = await createPrompt(harness.service);
    const { body: run } = await createTestRun(harness.service, prompt, onEcho);
    const runs = harness.database.db.collection<{ _id: string }>('test_runs');
    const document = await runs.findOne({ _id: run.id as string });
    await runs.insertMany(Array.from({ length: 120 }, (_, index) => ({ ...document, _id: `copy-${index}` })));
    await remove(prompt);
    expect(await runs.countDocuments({ prompt_id: prompt })).toBe(0);
  });

  it('cancels a run in progress, and its caller gets a problem', async () => {
    const prompt = await createPrompt(harness.service);
    const answer = createTestRun(harness.service, prompt, onMock('mock-hang'));
    await until(
      () => harness.mock.requests.length,
      (count) => count === 1,
    );
    await remove(prompt);
    expect((await answer).status).toBe(404);
    expect(problemOf(await answer)).toBe('prompt-not-found');
    expect(harness.mock.requests[0]?.aborted).toBe(true);
  });

  it('leaves nothing of a run whose calls end after the deletion', async () => {
    const prompt = await createPrompt(harness.service);
    const id = await startRun(harness.service, prompt, onMock('mock-held'));
    await until(
      () => harness.mock.requests.length,
      (count) => count === 1,
    );
    await remove(prompt);
    harness.mock.release();
    expect(problemOf(await harness.service.call('GET', runPath(id)))).toBe('test-run-not-found');
    await until(
      () => harness.service.call('GET', '/metrics'),
      ({ text }) => /^test_runs_active 0$/m.test(text),
    );
    expect(await hasResults(harness.service, id)).toBe(false);
  });
});

describe('the daily maintenance', () => {
  it('removes results that were stored for a run after it was deleted', async () => {
    const prompt = await createPrompt(harness.service);
    const id = await startRun(harness.service, prompt, onMock('mock-held'));
    await remove(prompt);
    harness.mock.release();
    await until(
      () => harness.service.call('GET', '/metrics'),
      ({ text }) => /^test_runs_active 0$/m.test(text),
    );
    const { blobs } = observe(harness);
    await blobs.put(`test-runs/${id}.json`, Buffer.from('{}'), 'application/json');

    await observe(harness).testRuns.sweep();
    expect(await hasResults(harness.service, id)).toBe(true);
    await observe(harness, { clock: clockAhead(1.1 * day) }).testRuns.sweep();
    expect(await hasResults(harness.service, id)).toBe(false);
    expect(await documents()).not.toContainEqual(expect.objectContaining({ _id: id }));
  });

  it('removes runs of deleted prompts, and no others', async () => {
    const kept = await createPrompt(harness.service);
    const { body: keptRun } = await createTestRun(harness.service, kept, onEcho);
    const orphans: string[] = [];
    for (let count = 0; count < 25; count += 1) {
      const prompt = await createPrompt(harness.service);
      orphans.push((await createTestRun(harness.service, prompt, onEcho)).body.id as string);
      await harness.database.db.collection<{ _id: string }>('prompts').deleteOne({ _id: prompt });
    }
    const { testRuns } = observe(harness);
    for (let sweep = 0; sweep < 5; sweep += 1) await testRuns.sweep();
    for (const id of orphans) {
      expect((await harness.service.call('GET', runPath(id))).status).toBe(404);
      expect(await hasResults(harness.service, id)).toBe(false);
    }
    expect((await harness.service.call('GET', resultsPath(keptRun.id as string))).status).toBe(200);
  });

  it('runs once a day', async () => {
    let now = 0;
    const { testRuns } = observe(harness, { clock: { ...systemClock, monotonic: () => now } });
    for (let sweep = 0; sweep < 5; sweep += 1) await testRuns.sweep();
    const prompt = await createPrompt(harness.service);
    const { body: run } = await createTestRun(harness.service, prompt, onEcho);
    await harness.database.db.collection<{ _id: string }>('prompts').deleteOne({ _id: prompt });
    const status = async (): Promise<number> => (await harness.service.call('GET', runPath(run.id as string))).status;
    await testRuns.sweep();
    expect(await status()).toBe(200);
    now += day;
    for (let sweep = 0; sweep < 5; sweep += 1) await testRuns.sweep();
    expect(await status()).toBe(404);
  });
});
