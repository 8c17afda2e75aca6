import { chmod, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { startObjectStorage, type ObjectStorage } from '../../support/object-storage.ts';
import {
  createPrompt,
  ended,
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

let bucket: ObjectStorage;
const harness = setUpTestRuns(async () => {
  bucket = await startObjectStorage();
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, ...environment } = bucket.environment;
  Object.assign(process.env, { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY });
  return environment;
});
afterEach(() => bucket.restart());
afterAll(() => bucket.stop());

const expectUnavailable = (answer: Awaited<ReturnType<typeof createTestRun>>): void => {
  expect([answer.status, problemOf(answer)]).toEqual([503, 'storage-unavailable']);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
};

describe('with a bucket', () => {
  it('keeps results in one JSON object for each run', async () => {
    const { body } = await createTestRun(
      harness.service,
      await createPrompt(harness.service),
      onMock('model-a', 'mock-401'),
    );
    const { id, prompt_id, prompt_version, created_at, finished_at, results } = body;
    const stored = await harness.service.call('GET', resultsPath(id as string));
    expect(stored.body).toEqual({ id, prompt_id, prompt_version, created_at, finished_at, results });
  });
});

describe('an unavailable bucket', () => {
  it('refuses a test before it calls providers or stores anything, and recovers', async () => {
    const prompt = await createPrompt(harness.service);
    await bucket.stop();
    expectUnavailable(await createTestRun(harness.service, prompt, onMock('model-a')));
    expectUnavailable(await createTestRun(harness.service, prompt, onMock('model-a'), { Prefer: 'respond-async' }));
    expect(harness.mock.requests).toHaveLength(0);
    const { body } = await harness.service.call('GET', `/api/v1/prompts/${prompt}/test-runs`);
    expect(body.data).toEqual([]);
    await bucket.restart();
    expect((await createTestRun(harness.service, prompt, onMock('model-a'))).status).toBe(201);
  });

  it('affects only the reading of results', async () => {
    const prompt = await createPrompt(harness.service, { selected_provider: 'mock' });
    const { body: run } = await createTestRun(harness.service, prompt, onEcho);
    await bucket.stop();
    expectUnavailable(await harness.service.call('GET', resultsPath(run.id as string)));
    const others = await Promise.all([
      harness.service.call('GET', runPath(run.id as string)),
      harness.service.call('GET', `/api/v1/prompts/${prompt}/test-runs`),
      harness.service.call('POST', `/api/v1/prompts/${prompt}/invoke`),
      harness.service.call('PUT', `/api/v1/prompts/${prompt}`, { body: { name: 'Renamed' } }),
      harness.service.call('GET', '/health/ready'),
    ]);
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  it('fails a run whose results cannot be stored', async () => {
    const prompt = await createPrompt(harness.service);
    const answer = createTestRun(harness.service, prompt, onMock('mock-held'), { 'Idempotency-Key': 'no-storage' });
    await until(
      () => harness.mock.requests.length,
      (count) => count === 1,
    );
    await bucket.stop();
    harness.mock.release();
    expectUnavailable(await answer);
    const { body } = await harness.service.call('GET', `/api/v1/prompts/${prompt}/test-runs`);
    expect(body.data[0]).toMatchObject({ status: 'failed', finished_at: expect.any(String) });
    const results = await harness.service.call('GET', resultsPath(body.data[0].id as string));
    expect([results.status, problemOf(results)]).toEqual([409, 'test-run-not-stored']);

    await bucket.restart();
    const repeat = await createTestRun(harness.service, prompt, onMock('mock-held'), {
      'Idempotency-Key': 'no-storage',
    });
    expect([repeat.status, problemOf(repeat)]).toEqual([409, 'test-run-not-stored']);
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('gets another attempt to store results that were paid for', async () => {
    const id = await startRun(harness.service, await createPrompt(harness.service), onMock('mock-held'));
    await until(
      () => harness.mock.requests.length,
      (count) => count === 1,
    );
    await bucket.stop();
    harness.mock.release();
    await harness.mock.requests[0]?.ended;
    setTimeout(() => void bucket.restart(), 1_000);
    expect((await ended(harness.service, id)).body.status).toBe('done');
    expect((await harness.service.call('GET', resultsPath(id))).status).toBe(200);
  });

  it('delays the deletion of a prompt with results, which continues later', async () => {
    const prompt = await createPrompt(harness.service);
    const { body: run } = await createTestRun(harness.service, prompt, onEcho);
    await bucket.stop();
    expectUnavailable(await harness.service.call('DELETE', `/api/v1/prompts/${prompt}`));
    expect((await harness.service.call('GET', `/api/v1/prompts/${prompt}`)).status).toBe(404);
    await bucket.restart();
    expect((await harness.service.call('DELETE', `/api/v1/prompts/${prompt}`)).status).toBe(200);
    expect((await harness.service.call('GET', runPath(run.id as string))).status).toBe(404);
  });

  it('does not delay the deletion of a prompt without results', async () => {
    const prompt = await createPrompt(harness.service);
    await bucket.stop();
    expect((await harness.service.call('DELETE', `/api/v1/prompts/${prompt}`)).status).toBe(200);
  });
});

describe('files that cannot be written', () => {
  const files = setUpTestRuns();

  it('refuse a test before it costs anything', async () => {
    const prompt = await createPrompt(files.service);
    const folder = path.join(files.service.environment['DATA_DIR'] ?? '', 'files');
    await rm(folder, { recursive: true, force: true });
    await writeFile(folder, 'in the way');
    await chmod(folder, 0o400);
    expectUnavailable(await createTestRun(files.service, prompt, onMock('model-a')));
    expect(files.mock.requests).toHaveLength(0);
    await rm(folder);
    expect((await createTestRun(files.service, prompt, onMock('model-a'))).status).toBe(201);
  });
});
