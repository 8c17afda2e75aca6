import { describe, expect, it } from '@jest/globals';
import {
  createPrompt,
  ended,
  onEcho,
  onMock,
  problemOf,
  runPath,
  createTestRun,
  setUpTestRuns,
  startRun,
} from './test-runs-harness.ts';

const harness = setUpTestRuns();

describe('200', () => {
  it('returns the run as createTestRun answered it, without its results', async () => {
    const { body: created } = await createTestRun(harness.service, await createPrompt(harness.service), onEcho);
    const { status, headers, body } = await harness.service.call('GET', runPath(created.id as string));
    expect(status).toBe(200);
    expect({ ...body, results: created.results }).toEqual(created);
    expect(headers['etag']).toBe(`"${String(created.id)}.2"`);
  });

  it('has another entity tag while it runs', async () => {
    const id = await startRun(harness.service, await createPrompt(harness.service), onMock('mock-held'));
    const running = await harness.service.call('GET', runPath(id));
    harness.mock.release();
    const done = await ended(harness.service, id);
    expect(running.headers['etag']).not.toBe(done.headers['etag']);
  });
});

describe('304', () => {
  it('sends no body while nothing has changed', async () => {
    const { headers } = await createTestRun(harness.service, await createPrompt(harness.service), onEcho);
    const first = await harness.service.call('GET', headers['location'] ?? '');
    const again = await harness.service.call('GET', headers['location'] ?? '', {
      headers: { 'If-None-Match': first.headers['etag'] ?? '' },
    });
    expect([again.status, again.text]).toEqual([304, '']);
  });
});

describe('400', () => {
  it('refuses an invalid id', async () => {
    const answer = await harness.service.call('GET', runPath('latest'));
    expect([answer.status, problemOf(answer)]).toEqual([400, 'invalid-request']);
  });
});

describe('404', () => {
  it('says that the test run does not exist', async () => {
    const answer = await harness.service.call('GET', runPath('00000000-0000-4000-8000-000000000000'));
    expect([answer.status, problemOf(answer)]).toEqual([404, 'test-run-not-found']);
  });
});

describe('500', () => {
  it('hides the cause', async () => {
    const { body } = await createTestRun(harness.service, await createPrompt(harness.service), onEcho);
    const runs = harness.database.db.collection<{ _id: string }>('test_runs');
    await runs.updateOne({ _id: body.id as string }, { $unset: { providers: 1 } });
    const answer = await harness.service.call('GET', runPath(body.id as string));
    expect([answer.status, problemOf(answer)]).toEqual([500, 'internal-error']);
  });
});
