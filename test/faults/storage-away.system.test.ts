import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OperationId } from '../../generated/operations.ts';
import { startObjectStorage, type ObjectStorage } from '../support/object-storage.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { callEveryOperation, environmentOfEveryOperation, sendTimed } from '../support/every-operation.ts';

/** The operations that need the bucket: running a test or an evaluation, reading its results, and reading and writing cases. */
const suffering: readonly OperationId[] = [
  ...([
    'createTestRun',
    'getTestRunResults',
    'createEvaluation',
    'exportEvaluationResults',
    'listJudgedAnswers',
    'setMark',
  ] as const),
  ...(['setDataset', 'addDatasetCases', 'listDatasetCases', 'exportDatasetCases'] as const),
  // Which look for judges in the cases.
  ...(['setGate', 'createGateEvaluation'] as const),
];

let bucket: ObjectStorage;
let service: TestService;
beforeAll(async () => {
  bucket = await startObjectStorage();
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, ...environment } = bucket.environment;
  Object.assign(process.env, { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY });
  service = await startTestService({ environment: { ...environmentOfEveryOperation, ...environment } });
});
afterAll(async () => {
  await service.close();
  await bucket.stop();
});

describe('a bucket that has stopped', () => {
  it('fails only test runs, data sets and evaluations, and is used again when it is back', async () => {
    const calls = await callEveryOperation(service);
    await bucket.stop();
    for (const { operation, status, problem, milliseconds } of await sendTimed(service, calls)) {
      if (suffering.includes(operation)) expect([operation, problem]).toEqual([operation, 'storage-unavailable']);
      else expect([operation, status < 300]).toEqual([operation, true]);
      expect(milliseconds).toBeLessThan(14_000);
    }
    const ready = await service.call('GET', '/health/ready');
    expect(ready.body.checks).toEqual({ database: 'ok', storage: 'unavailable', migration: 'ok' });

    await bucket.restart();
    const { method, path, body } = calls.createTestRun;
    const run = await service.call(method, path, { body });
    expect(run.status).toBe(201);
  });
});
