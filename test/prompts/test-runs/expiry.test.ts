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
import { withTellingDeletes } from '../../../src/storage/blobs/create-blob-store.ts';
import { storageUnavailable } from '../../../src/storage/blobs/blob-store.ts';

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

  /**
   * Runs that are too old, of which the first cannot be deleted until `failures` attempts have failed.
   * @param works whether the storage works apart from that; if not, none can be deleted until then
   */
  const expiredRuns = async (error: Error, failures: number, works = true) => {
    const prompt = await createPrompt(harness.service);
    const runs = await Promise.all(Array.from({ length: 3 }, () => createTestRun(harness.service, prompt, onEcho)));
    const ids = runs.map(({ body }) => body.id as string).toSorted();
    let left = failures;
    const { blobs } = observe(harness);
    const clock = clockAhead(30 * dayMs + 1);
    const { testRuns } = observe(harness, {
      clock,
      retentionMs: 30 * dayMs,
      blobs: withTellingDeletes({
        ...blobs,
        delete: async (key) => {
          if ((works && !key.includes(ids[0] ?? '')) || left === 0) return await blobs.delete(key);
          if (works) left -= 1;
          throw error;
        },
        check: async () => {
          if (works || left === 0) return;
          left -= 1;
          throw error;
        },
      }),
    });
    const statuses = async (): Promise<number[]> =>
      await Promise.all(ids.map(async (id) => (await harness.service.call('GET', runPath(id))).status));
    const sweep = async (times: number): Promise<void> => {
      for (let each = 0; each < times; each += 1) await testRuns.sweep().catch(() => undefined);
    };
    return { sweep, statuses };
  };

  it('are removed soon after an outage, not in the next round', async () => {
    const { sweep, statuses } = await expiredRuns(storageUnavailable(new Error('away')), 3, false);
    await sweep(256 + 3);
    expect(await statuses()).toEqual([404, 404, 404]);
  });

  it('are removed if another cannot be', async () => {
    const refused = await expiredRuns(new TypeError('not this one'), Infinity);
    await refused.sweep(256);
    expect(await refused.statuses()).toEqual([200, 404, 404]);
    const locked = await expiredRuns(storageUnavailable(new Error('locked')), Infinity);
    await locked.sweep(256);
    expect(await locked.statuses()).toEqual([200, 404, 404]);
  });

  it('wait while the storage is away', async () => {
    const { sweep, statuses } = await expiredRuns(storageUnavailable(new Error('away')), Infinity, false);
    await sweep(2 * 256);
    expect(await statuses()).toEqual([200, 200, 200]);
  });
});
