import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  createEvaluationStore,
  type ActiveEvaluation,
} from '../../../../src/prompts/evaluations/runs/evaluation-store.ts';
import { startTestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { create, saying } from '../../prompts-harness.ts';
import {
  createDataset,
  createEchoPrompt,
  ended,
  reached,
  resultsOf,
  sayCase,
  setUpEvaluations,
  startEvaluation,
} from './evaluations-harness.ts';

// This service takes evaluations only when one was started or has ended.
const harness = setUpEvaluations({ evaluationTimes: { lookEveryMs: 3_600_000, pausesMs: [1, 1] } });
const rule = { all_pass: true };

async function activeOf(id: string): Promise<ActiveEvaluation> {
  const all = await createEvaluationStore(harness.database).active();
  const found = all.find((one) => one.id === id);
  if (found === undefined) throw new Error('it has ended');
  return found;
}

describe('a lease', () => {
  it('that was taken over lets its process change nothing more', async () => {
    const { service, mock, database } = harness;
    const selected = { selected_provider: 'mock', selected_model: 'mock-held' };
    const { id: prompt } = await create(service, { ...saying('Hi'), ...selected });
    const dataset = { name: await createDataset(service, 'held', ['{"id":"one"}']) };
    const checks = [{ type: 'contains', value: 'Hello' }];
    const id = await startEvaluation(service, prompt, { candidate: {}, dataset, checks, rule });
    await reached(service, id, 'running');
    await until(() => mock.requests.length === 1);
    const store = createEvaluationStore(database);
    const before = await activeOf(id);
    const [mine, other] = [before.lease ?? '', randomUUID()];
    expect(await store.take(id, other)).toBe(false);
    // A heartbeat comes in between.
    await store.beat([mine], before.beat + 1);
    await store.free(before);
    expect((await activeOf(id)).lease).toBe(mine);
    await store.free(await activeOf(id));
    expect(await store.take(id, other)).toBe(true);
    expect(await store.beat([mine, other], 1)).toEqual([mine]);
    const entry = { name: `evaluations/${id}/0-x.jsonl`, outcomes: '1' };
    const late = { name: entry.name, at: new Date() };
    expect(await store.announce(id, mine, 0, late)).toBe(false);
    expect(await store.enter(id, mine, 0, entry, { casesDone: 1 })).toBe(false);
    expect(await store.end(id, mine, { status: 'ended', finishedAt: new Date() })).toBe(false);
    // The answer of the process that was late is there now, and counts nowhere.
    mock.release();
    await until(() => mock.requests[0]?.ended.then(() => true));
    expect(await activeOf(id)).toMatchObject({ status: 'running', lease: other });
    expect(await store.entries(id)).toEqual([]);
    // An object counts once, whatever is repeated.
    expect(await store.announce(id, other, 0, late)).toBe(true);
    expect(await store.enter(id, other, 0, entry, { casesDone: 1 })).toBe(true);
    expect(await store.enter(id, other, 0, { ...entry, name: 'another' }, { casesDone: 2 })).toBe(false);
    expect(await store.enter(id, other, 0, entry, { casesDone: 1 })).toBe(true);
    expect(await store.entries(id)).toEqual([entry]);
    await service.call('POST', `/api/v1/evaluations/${id}/cancel`);
  });

  it('is given back by a process that stops, and another goes on at once', async () => {
    const { service, mock, database } = harness;
    const selected = { selected_provider: 'mock', selected_model: 'mock-slow-10' };
    const { id: prompt } = await create(service, { ...saying('Hi'), ...selected });
    const lines = Array.from({ length: 300 }, (_, index) => `{"id":"${index}"}`);
    const dataset = { name: await createDataset(service, 'moving', lines) };
    const checks = [{ type: 'contains', value: 'Hello' }];
    const { DATA_DIR: _, PORT: __, ...environment } = service.environment;
    const DATA_DIR = service.environment['DATA_DIR'] ?? '';
    const stopping = await startTestService({
      environment: { ...environment, DATA_DIR, SHUTDOWN_TIMEOUT_MS: '10000' },
    });
    const id = await startEvaluation(stopping, prompt, { candidate: {}, dataset, checks, rule });
    await until(() => mock.requests.length > 20);
    await stopping.close();
    const left = await activeOf(id);
    expect(left).toMatchObject({ status: 'running', lease: undefined });
    const asked = mock.requests.length;
    expect(asked).toBeLessThan(300);
    const next = await startTestService({
      environment: { ...environment, DATA_DIR },
      evaluationTimes: { lookEveryMs: 10 },
    });
    try {
      expect((await ended(next, id)).verdict).toMatchObject({ outcome: 'passed', units: 300 });
      // Nothing is asked again that was answered.
      expect(mock.requests).toHaveLength(300);
      const names = (await resultsOf(next, id)).map((line) => line.case as string);
      expect([names.length, new Set(names).size]).toEqual([300, 300]);
    } finally {
      await next.close();
    }
    void database;
  });
});

describe('an evaluation', () => {
  it('goes on when its process sends no more heartbeats', async () => {
    const { service, database } = harness;
    const prompt = await createEchoPrompt(service);
    const dataset = { name: await createDataset(service, 'abandoned', [sayCase('one', 'good')]) };
    const documents = database.db.collection<{ _id: string }>('evaluations');
    const { id } = (
      await service.call('POST', `/api/v1/prompts/${prompt}/evaluations`, { body: { candidate: {}, dataset, rule } })
    ).body as { id: string };
    const finished = await ended(service, id);
    expect(finished.status).toBe('ended');
    // As a process leaves it that dies while it plans.
    const another = '5d9f1b7e-8c24-4a63-b0f1-9e7d2c6a4f38';
    const original = await documents.findOne({ _id: id });
    const planning = {
      status: 'planning',
      active: true,
      lease: randomUUID(),
      heartbeat: 3,
      next: 0,
      entries: [],
      cases_done: 0,
    };
    const {
      verdict: _,
      finished_at: __,
      results_until: ___,
      expires_at: ____,
      ...rest
    } = original as Record<string, unknown>;
    await documents.insertOne({ ...rest, ...planning, _id: another } as never);
    const DATA_DIR = service.environment['DATA_DIR'] ?? '';
    const times = { lookEveryMs: 20, heartbeatMs: 50, staleMs: 300 };
    const survivor = await startTestService({
      environment: { ...service.environment, DATA_DIR },
      evaluationTimes: times,
    });
    try {
      expect((await ended(survivor, another)).verdict.outcome).toBe('passed');
    } finally {
      await survivor.close();
    }
  });
});
