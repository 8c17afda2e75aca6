import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import { testDatabaseUri } from '../../support/database.ts';
import { LossyProxy } from '../../support/lossy-proxy.ts';
import { createPrompt, onMock, problemOf, resultsPath, createTestRun, setUpTestRuns } from './test-runs-harness.ts';
import { until } from '../../support/until.ts';

let proxy: LossyProxy;
const harness = setUpTestRuns(async () => {
  proxy = await LossyProxy.start(testDatabaseUri());
  return { MONGODB_URI: proxy.uri };
});
afterAll(() => proxy.stop());

describe('a lost answer of the database', () => {
  it.each([
    ['the run is recorded', 'insert'],
    ['its end is recorded', 'update'],
  ])('when %s changes nothing', async (_when, command) => {
    const prompt = await createPrompt(harness.service);
    const lost = proxy.lose({ commands: [command], collection: 'test_runs' });
    const { status, body } = await createTestRun(harness.service, prompt, onMock('model-a'));
    await lost;
    expect([status, body.status]).toEqual([201, 'done']);
    expect(harness.mock.requests).toHaveLength(1);
    const { body: page } = await harness.service.call('GET', `/api/v1/prompts/${prompt}/test-runs`);
    expect(page.pagination.total).toBe(1);
    expect((await harness.service.call('GET', resultsPath(body.id as string))).status).toBe(200);
  });
});

describe('an outage during a run', () => {
  it('is reported to the caller within seconds, and the run is done after the outage', async () => {
    const prompt = await createPrompt(harness.service);
    const headers = { 'Idempotency-Key': 'outage' };
    const answer = createTestRun(harness.service, prompt, onMock('mock-held'), headers);
    await until(
      () => harness.mock.requests.length,
      (count) => count === 1,
    );
    await proxy.stop();
    harness.mock.release();
    const told = await answer;
    expect([told.status, problemOf(told)]).toEqual([503, 'database-unavailable']);
    await sleep(2_000);
    await proxy.restart();

    const list = (): ReturnType<typeof harness.service.call> =>
      harness.service.call('GET', `/api/v1/prompts/${prompt}/test-runs`);
    const { body } = await until(list, (page) => page.status === 200 && page.body.data[0].status === 'done');
    expect((await harness.service.call('GET', resultsPath(body.data[0].id as string))).status).toBe(200);

    await harness.database.db.collection('idempotency_keys').updateMany({}, { $set: { given_up: true } });
    const repeat = await createTestRun(harness.service, prompt, onMock('mock-held'), headers);
    expect([repeat.status, repeat.body.id]).toEqual([201, body.data[0].id]);
    expect(harness.mock.requests).toHaveLength(1);
  });
});
