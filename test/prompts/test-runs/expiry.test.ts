import { describe, expect, it } from '@jest/globals';
import {
  createPrompt,
  hasResults,
  onEcho,
  problemOf,
  resultsPath,
  runPath,
  createTestRun,
  setUpTestRuns,
} from './test-runs-harness.ts';
import { observe } from './observer.ts';
import { clockAhead } from '../../support/clock.ts';

const harness = setUpTestRuns();
const dayMs = 24 * 3_600_000;

describe('test runs', () => {
  /** Runs the daily maintenance of a process, `days` days from now. */
  const sweepIn = async (milliseconds: number): Promise<void> => {
    const { testRuns } = observe(harness, { clock: clockAhead(milliseconds), retentionMs: 30 * dayMs });
    for (let each = 0; each < 256; each += 1) await testRuns.sweep();
  };

  it('are removed with their results after the retention period, and not earlier', async () => {
    const prompt = await createPrompt(harness.service);
    const runs = await Promise.all(Array.from({ length: 5 }, () => createTestRun(harness.service, prompt, onEcho)));
    await sweepIn(30 * dayMs - 10 * 60_000);
    for (const { body } of runs) expect((await harness.service.call('GET', resultsPath(body.id))).status).toBe(200);

    await sweepIn(30 * dayMs + 1);
    for (const { body } of runs) {
      const run = await harness.service.call('GET', runPath(body.id));
      const results = await harness.service.call('GET', resultsPath(body.id));
      expect([run.status, results.status, problemOf(results)]).toEqual([404, 404, 'test-run-not-found']);
      expect(await hasResults(harness.service, body.id)).toBe(false);
    }
  });
});
