/** Data sets in a bucket, without one, and what interrupted writes leave. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { system } from '../../../../src/base/runtime/system.ts';
import { createDatasetFeature } from '../../../../src/prompts/evaluations/datasets/feature.ts';
import type { BlobStore } from '../../../../src/storage/blobs/blob-store.ts';
import { createS3BlobStore } from '../../../../src/storage/blobs/s3-blob-store.ts';
import type { PagedDatabase } from '../../../../src/storage/db/pages.ts';
import { clockAhead } from '../../../support/clock.ts';
import { startObjectStorage, type ObjectStorage } from '../../../support/object-storage.ts';
import { openDatabaseOf, problem } from '../../../support/per-operation.ts';
import { startTestService, type TestService } from '../../../support/service.ts';
import { datasetsPath, setDataset } from './datasets-harness.ts';

let bucket: ObjectStorage;
let service: TestService;
let database: PagedDatabase;
let blobs: BlobStore;
beforeAll(async () => {
  bucket = await startObjectStorage();
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, ...environment } = bucket.environment;
  Object.assign(process.env, { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY });
  service = await startTestService({ environment });
  database = await openDatabaseOf(service);
  blobs = createS3BlobStore(bucket.options);
});
afterAll(async () => {
  await blobs.close();
  await database.close();
  await service.close();
  await bucket.stop();
});

interface VersionDocument {
  _id: string;
  dataset_id?: string;
  parts?: number[];
  pending?: Date;
}
const documents = () => database.db.collection<VersionDocument>('dataset_versions');
const isStored = async (id: string, part = 0): Promise<boolean> => {
  const found = await blobs.open(`datasets/${id}/${part}.jsonl`);
  found?.content.destroy();
  return found !== undefined;
};
const none = () => Promise.reject(new Error('no invocation is read'));
const keptNothing = { find: none, read: none, recordAccess: none };
const nothingNamed = { named: async () => new Set<string>(), isGated: async () => false };
const sweepIn = (milliseconds: number, stored = blobs): Promise<void> => {
  const { random } = system;
  const basis = { database, clock: clockAhead(milliseconds), random };
  return createDatasetFeature(basis, stored, keptNothing, nothingNamed).datasets.sweep();
};
const largeLines = Array.from({ length: 12 }, (_, index) => `{"id":"${index}","expected":"${'x'.repeat(200_000)}"}`);

describe('the objects of a version', () => {
  it('are parts of about a megabyte, and are deleted with it', async () => {
    const { body } = await setDataset(service, 'parts', largeLines);
    const [version] = await documents().find({ dataset_id: body.id }).toArray();
    expect(version?.parts).toEqual([6, 6]);
    const id = version?._id ?? '';
    expect([await isStored(id, 0), await isStored(id, 1)]).toEqual([true, true]);
    const page = await service.call('GET', `${datasetsPath}/parts/versions/1/cases?offset=5&limit=3`);
    expect(page.body.data.map((one: { id: string }) => one.id)).toEqual(['5', '6', '7']);
    await service.call('DELETE', `${datasetsPath}/parts`);
    expect([await isStored(id, 0), await isStored(id, 1)]).toEqual([false, false]);
  });

  it('are not left behind by cases that are the same, or not valid', async () => {
    const before = await documents().countDocuments();
    await setDataset(service, 'same', largeLines);
    await setDataset(service, 'same', largeLines);
    await setDataset(service, 'same', [...largeLines, '{']);
    expect(await documents().countDocuments()).toBe(before + 1);
    await service.call('DELETE', `${datasetsPath}/same`);
  });
});

describe('the sweep', () => {
  const dayMs = 24 * 3_600_000;

  it('removes after a day what a process left that died before its version had a name', async () => {
    const id = randomUUID();
    await documents().insertOne({ _id: id, pending: new Date() });
    await blobs.put(`datasets/${id}/0.jsonl`, Buffer.from('{"id":"a"}\n'), 'application/jsonl');
    await sweepIn(dayMs - 60_000);
    expect(await isStored(id)).toBe(true);
    await sweepIn(dayMs + 60_000);
    expect([await isStored(id), await documents().countDocuments({ _id: id })]).toEqual([false, 0]);
  });

  it('keeps the version of a process that died after it had a name; readers and writers see it before', async () => {
    const { body } = await setDataset(service, 'confirmed', ['{"id":"a"}']);
    await documents().updateOne({ dataset_id: body.id }, { $set: { pending: new Date() } });
    const cases = `${datasetsPath}/confirmed/versions/1/cases`;
    expect((await service.call('GET', cases)).body.data).toEqual([{ id: 'a' }]);
    await sweepIn(2 * dayMs);
    expect(await documents().countDocuments({ dataset_id: body.id, pending: { $exists: true } })).toBe(0);
    await documents().updateOne({ dataset_id: body.id }, { $set: { pending: new Date() } });
    await setDataset(service, 'confirmed', ['{"id":"b"}']);
    await sweepIn(2 * dayMs);
    expect((await service.call('GET', cases)).body.data).toEqual([{ id: 'a' }]);
  });

  it('removes the versions of a data set whose deletion was interrupted', async () => {
    const { body } = await setDataset(service, 'interrupted', ['{"id":"a"}']);
    const [version] = await documents().find({ dataset_id: body.id }).toArray();
    await database.db.collection<{ _id: string }>('datasets').deleteOne({ _id: 'interrupted' });
    await sweepIn(0);
    expect([await isStored(version?._id ?? ''), await documents().countDocuments({ dataset_id: body.id })]).toEqual([
      false,
      0,
    ]);
  });

  it('removes them also when what another process left cannot be removed', async () => {
    const stuck = randomUUID();
    await documents().insertOne({ _id: stuck, pending: new Date() });
    const { body } = await setDataset(service, 'beside', ['{"id":"a"}']);
    await database.db.collection<{ _id: string }>('datasets').deleteOne({ _id: 'beside' });
    const refusing: BlobStore = {
      ...blobs,
      delete: async (key) => {
        if (key.includes(stuck)) throw new Error('not this one');
        await blobs.delete(key);
      },
    };
    await expect(sweepIn(2 * dayMs, refusing)).rejects.toThrow('not this one');
    expect(await documents().countDocuments({ dataset_id: body.id })).toBe(0);
    await documents().deleteOne({ _id: stuck });
  });
});

describe('503', () => {
  it('of an unavailable bucket changes nothing; what needs no cases works', async () => {
    await setDataset(service, 'outage', ['{"id":"a"}']);
    await bucket.stop();
    const lines = { headers: { 'Content-Type': 'application/x-ndjson' }, body: '{"id":"b"}' };
    const calls = [
      ['PUT', '', lines],
      ['POST', '/cases', { body: { cases: [{ id: 'b' }] } }],
      ['GET', '/versions/1/cases', {}],
      ['GET', '/versions/1/export', {}],
    ] as const;
    for (const [method, path, options] of calls) {
      const { status, body, headers } = await service.call(method, `${datasetsPath}/outage${path}`, options);
      expect([path, status, body.type]).toEqual([path, 503, problem('storage-unavailable')]);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
    expect((await service.call('GET', `${datasetsPath}/outage`)).body.version).toBe(1);
    expect((await service.call('GET', `${datasetsPath}/outage/versions`)).status).toBe(200);
    await bucket.restart();
    expect((await setDataset(service, 'outage', ['{"id":"b"}'])).body.version).toBe(2);
  });

  it('is no answer of a deletion; the sweep deletes the objects when the bucket is back', async () => {
    const { body } = await setDataset(service, 'deleted', ['{"id":"a"}']);
    const left = () => documents().countDocuments({ dataset_id: body.id });
    await bucket.stop();
    expect((await service.call('DELETE', `${datasetsPath}/deleted`)).status).toBe(200);
    expect((await service.call('GET', `${datasetsPath}/deleted`)).status).toBe(404);
    await expect(sweepIn(0)).rejects.toThrow();
    expect(await left()).toBe(1);
    await bucket.restart();
    await sweepIn(0);
    expect(await left()).toBe(0);
  });
});
