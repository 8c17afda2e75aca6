import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createDatasetFeature } from '../../../../src/prompts/evaluations/datasets/feature.ts';
import { createEvaluationKeeping } from '../../../../src/prompts/evaluations/runs/feature.ts';
import { createEvaluationResults } from '../../../../src/prompts/evaluations/runs/result-archive.ts';
import {
  createEvaluationStore,
  type EvaluationStore,
} from '../../../../src/prompts/evaluations/runs/evaluation-store.ts';
import { createSweep } from '../../../../src/prompts/evaluations/runs/sweep.ts';
import { createFsBlobStore } from '../../../../src/storage/blobs/fs-blob-store.ts';
import { system } from '../../../../src/base/runtime/system.ts';
import { clockAhead } from '../../../support/clock.ts';
import { setDataset } from '../datasets/datasets-harness.ts';
import {
  createDataset,
  createEchoPrompt,
  ended,
  evaluationPath,
  problemOf,
  resultsOf,
  sayCase,
  setUpEvaluations,
  startEvaluation,
} from './evaluations-harness.ts';

const harness = setUpEvaluations();
const none = (): Promise<never> => Promise.reject(new Error('no invocation is read'));
const keptNothing = { find: none, read: none, recordAccess: none };
const dayMs = 24 * 3_600_000;
const rule = { all_pass: true };

/** Names of the stored objects of an evaluation. */
async function objectsOf(id: string): Promise<string[]> {
  const folder = path.join(harness.service.environment['DATA_DIR'] ?? '', 'files', 'evaluations', id);
  return await readdir(folder).catch(() => []);
}

async function evaluated(name: string): Promise<{ id: string; prompt: string }> {
  const { service } = harness;
  const prompt = await createEchoPrompt(service);
  const dataset = { name: await createDataset(service, name, [sayCase('one', 'good')]) };
  const id = await startEvaluation(service, prompt, { candidate: {}, dataset, rule });
  await ended(service, id);
  return { id, prompt };
}

/** The maintenance of a process, in so many milliseconds. */
async function sweepIn(milliseconds: number, changed: Partial<EvaluationStore> = {}): Promise<void> {
  const blobs = createFsBlobStore(path.join(harness.service.environment['DATA_DIR'] ?? '', 'files'));
  const store = { ...createEvaluationStore(harness.database), ...changed };
  const results = createEvaluationResults(blobs, system.random);
  await createSweep({ store, results, clock: clockAhead(milliseconds) })();
}

describe('results', () => {
  it('are deleted 30 days after the end; the verdict stays', async () => {
    const { service } = harness;
    const { id } = await evaluated('kept');
    await sweepIn(30 * dayMs - 10 * 60_000);
    expect(await resultsOf(service, id)).toHaveLength(1);
    await sweepIn(30 * dayMs + 10 * 60_000);
    const answer = await service.call('GET', `${evaluationPath(id)}/results`);
    expect([answer.status, problemOf(answer)]).toEqual([409, 'evaluation-results-deleted']);
    expect(await objectsOf(id)).toEqual([]);
    expect((await service.call('GET', evaluationPath(id))).body.verdict.outcome).toBe('passed');
  });

  it('are deleted also when leftovers cannot be found', async () => {
    const { id } = await evaluated('beside');
    const leftovers = () => Promise.reject(new Error('no such index'));
    await expect(sweepIn(30 * dayMs + 10 * 60_000, { leftovers })).rejects.toThrow('no such index');
    expect(await objectsOf(id)).toEqual([]);
  });

  it('that never came to count are deleted after a day', async () => {
    const { service, database } = harness;
    const { id } = await evaluated('left');
    const blobs = createFsBlobStore(path.join(service.environment['DATA_DIR'] ?? '', 'files'));
    const name = `evaluations/${id}/1-left.jsonl`;
    await blobs.put(name, Buffer.from('{}\n'), 'application/jsonl');
    const documents = database.db.collection<{ _id: string; pending: object[] }>('evaluations');
    await documents.updateOne({ _id: id }, { $push: { pending: { name, at: new Date() } } });
    await sweepIn(dayMs - 60_000);
    expect(await objectsOf(id)).toHaveLength(2);
    await sweepIn(dayMs + 60_000);
    expect(await objectsOf(id)).toHaveLength(1);
    expect(await documents.findOne({ _id: id })).toMatchObject({ pending: [] });
  });
});

describe('evaluations', () => {
  it('are kept for 400 days', async () => {
    const { id } = await evaluated('expiring');
    const documents = harness.database.db.collection<{ _id: string; finished_at: Date; expires_at: Date }>(
      'evaluations',
    );
    const { finished_at, expires_at } = (await documents.findOne({ _id: id })) ?? { finished_at: 0, expires_at: 0 };
    expect(Number(expires_at) - Number(finished_at)).toBe(400 * dayMs);
  });

  it('are deleted with their prompt, and nothing of what they asked stays', async () => {
    const { service, database } = harness;
    const { id, prompt } = await evaluated('doomed');
    expect((await service.call('DELETE', `/api/v1/prompts/${prompt}`)).status).toBe(200);
    expect((await service.call('GET', evaluationPath(id))).status).toBe(404);
    expect(await objectsOf(id)).toEqual([]);
    const document = await database.db.collection<{ _id: string }>('evaluations').findOne({ _id: id });
    const kept = ['_id', 'entries', 'expires_at', 'next', 'pending', 'revision', 'status', 'writes'];
    expect(
      Object.keys(document ?? {})
        .filter((name) => name !== 'audit')
        .toSorted(),
    ).toEqual(kept);
  });
});

describe('a version of a data set', () => {
  it('is kept when the data set is deleted, until no evaluation names it', async () => {
    const { service, database } = harness;
    const { id, prompt } = await evaluated('gone');
    const documents = database.db.collection<{ _id: string; dataset_version_id: string }>('evaluations');
    const { dataset_version_id: version = '' } = (await documents.findOne({ _id: id })) ?? {};
    const files = path.join(service.environment['DATA_DIR'] ?? '', 'files');
    const isStored = async (): Promise<boolean> =>
      (await readdir(path.join(files, 'datasets', version)).catch(() => [])).length > 0;
    expect((await service.call('DELETE', '/api/v1/datasets/gone')).status).toBe(200);
    const basis = { database, ...system };
    const blobs = createFsBlobStore(files);
    const { named } = createEvaluationKeeping(basis, blobs);
    const { datasets } = createDatasetFeature(basis, blobs, keptNothing, { named, isGated: async () => false });
    await datasets.sweep();
    expect(await isStored()).toBe(true);
    await service.call('DELETE', `/api/v1/prompts/${prompt}`);
    await datasets.sweep();
    expect(await isStored()).toBe(false);
  });

  it('is kept while an evaluation names it', async () => {
    const { service } = harness;
    const { id } = await evaluated('versions');
    for (let version = 2; version <= 25; version += 1) await setDataset(service, 'versions', [`{"id":"${version}"}`]);
    const { body } = await service.call('GET', '/api/v1/datasets/versions/versions?limit=100');
    const numbers = body.data.map(({ version }: { version: number }) => version);
    expect(numbers).toEqual([...Array.from({ length: 20 }, (_, index) => 25 - index), 1]);
    expect((await service.call('GET', evaluationPath(id))).body.dataset.version).toBe(1);
  });
});
