import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import {
  createPrompt,
  ended,
  onEcho,
  onMock,
  problemOf,
  resultsPath,
  createTestRun,
  setUpTestRuns,
  startRun,
} from './test-runs-harness.ts';

const harness = setUpTestRuns();

const finished = async (): Promise<Record<string, unknown> & { id: string }> =>
  (await createTestRun(harness.service, await createPrompt(harness.service), onEcho)).body;

describe('200', () => {
  it('returns the results that createTestRun answered', async () => {
    const { id, prompt_id, prompt_version, created_at, finished_at, results } = await finished();
    const { status, headers, body } = await harness.service.call('GET', resultsPath(id));
    expect(status).toBe(200);
    expect(body).toEqual({ id, prompt_id, prompt_version, created_at, finished_at, results });
    expect(headers['etag']).toBe(`"${id}.results"`);
  });

  it('returns the values of the run, whatever is in them, and its results to a repetition', async () => {
    const prompt = await createPrompt(harness.service, { messages: [{ role: 'user', content: '{{text}}' }] });
    const variables = { text: 'Ada', more: { results: [1], id: 'x' } };
    const headers = { 'Idempotency-Key': 'with-values' };
    const { body: run } = await createTestRun(harness.service, prompt, { ...onEcho, variables }, headers);
    const { body } = await harness.service.call('GET', resultsPath(run.id as string));
    expect(body).toMatchObject({ id: run.id, variables, results: run.results });
    const { body: again } = await createTestRun(harness.service, prompt, { ...onEcho, variables }, headers);
    expect(again.results).toEqual(run.results);
  });

  it('leaves out values of more than 256 KiB', async () => {
    const prompt = await createPrompt(harness.service, { messages: [{ role: 'user', content: '{{text}}' }] });
    const variables = { text: 'x'.repeat(256 * 1024) };
    const { body: run } = await createTestRun(harness.service, prompt, { ...onEcho, variables });
    const { body } = await harness.service.call('GET', resultsPath(run.id as string));
    expect(body.variables).toBeUndefined();
  });

  it('keeps the text of the provider unchanged', async () => {
    const text = 'Zażółć 🦔 \u2028 "quoted" \\ \u0000 {{name}}';
    const prompt = await createPrompt(harness.service, { messages: [{ role: 'user', content: '{{text}}' }] });
    const { body: run } = await createTestRun(harness.service, prompt, { ...onEcho, variables: { text } });
    const { body } = await harness.service.call('GET', resultsPath(run.id as string));
    expect(body.results[0].result.text).toBe(text);
  });
});

describe('results of an earlier release', () => {
  it('name calls of tools as today, in the results and to a repetition', async () => {
    const tools = [{ name: 'get_weather', parameters: { type: 'object' } }];
    const content = 'call get_weather {"toolCalls":[{"id":1}]}';
    const prompt = await createPrompt(harness.service, { messages: [{ role: 'user', content }], tools });
    const headers = { 'Idempotency-Key': 'earlier' };
    const { body: run } = await createTestRun(harness.service, prompt, onEcho, headers);
    const id = run.id as string;
    const { body: present } = await harness.service.call('GET', resultsPath(id));
    expect(present.results).toMatchObject([{ result: { tool_calls: [{ name: 'get_weather' }] } }]);
    const file = path.join(harness.service.environment['DATA_DIR'] ?? '', 'files', 'test-runs', `${id}.json`);
    const earlier = (await readFile(file, 'utf8')).replaceAll('"tool_calls":', '"toolCalls":');
    await writeFile(file, earlier);
    const runs = harness.database.db.collection<{ _id: string; answer_bytes?: number; has_present_names?: true }>(
      'test_runs',
    );
    const change = { $set: { answer_bytes: Buffer.byteLength(earlier) }, $unset: { has_present_names: true } } as const;
    expect((await runs.updateOne({ _id: id }, change)).modifiedCount).toBe(1);
    expect((await harness.service.call('GET', resultsPath(id))).body).toEqual(present);
    const { body: again } = await createTestRun(harness.service, prompt, onEcho, headers);
    expect(again.results).toEqual(present.results);
  });
});

describe('304', () => {
  it('sends no body, because results never change', async () => {
    const { id } = await finished();
    const headers = { 'If-None-Match': `"${id}.results"` };
    const { status, text } = await harness.service.call('GET', resultsPath(id), { headers });
    expect([status, text]).toEqual([304, '']);
  });
});

describe('400', () => {
  it('refuses an invalid id', async () => {
    const answer = await harness.service.call('GET', resultsPath('..%2F..%2Fetc'));
    expect([answer.status, problemOf(answer)]).toEqual([400, 'invalid-request']);
  });
});

describe('404', () => {
  it('says that the test run does not exist', async () => {
    const answer = await harness.service.call('GET', resultsPath('00000000-0000-4000-8000-000000000000'));
    expect([answer.status, problemOf(answer)]).toEqual([404, 'test-run-not-found']);
  });
});

describe('409', () => {
  it('asks the caller to wait while the run is running', async () => {
    const id = await startRun(harness.service, await createPrompt(harness.service), onMock('mock-held'));
    const answer = await harness.service.call('GET', resultsPath(id));
    expect([answer.status, problemOf(answer)]).toEqual([409, 'test-run-running']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    harness.mock.release();
    await ended(harness.service, id);
  });

  it.each(['failed', 'interrupted'])('says that there are no results of a run with the status %s', async (status) => {
    const { id } = await finished();
    const runs = harness.database.db.collection<{ _id: string }>('test_runs');
    await runs.updateOne({ _id: id }, { $set: { status } });
    const answer = await harness.service.call('GET', resultsPath(id));
    expect([answer.status, problemOf(answer)]).toEqual([409, 'test-run-not-stored']);
    expect(answer.headers).not.toHaveProperty('retry-after');
  });

  it('says that the object was removed from the storage', async () => {
    const { id } = await finished();
    await rm(path.join(harness.service.environment['DATA_DIR'] ?? '', 'files', 'test-runs', `${id}.json`));
    const answer = await harness.service.call('GET', resultsPath(id));
    expect([answer.status, problemOf(answer)]).toEqual([409, 'test-run-not-stored']);
  });
});

describe('500', () => {
  it('hides the cause', async () => {
    const { id } = await finished();
    const runs = harness.database.db.collection<{ _id: string }>('test_runs');
    await runs.updateOne({ _id: id }, { $unset: { providers: 1 } });
    const answer = await harness.service.call('GET', resultsPath(id));
    expect([answer.status, problemOf(answer)]).toEqual([500, 'internal-error']);
  });
});
