import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { reservePort } from '../support/ports.ts';
import { startObjectStorage, type ObjectStorage } from '../support/object-storage.ts';
import { setUpProcesses } from './operation-harness.ts';
import { until } from '../support/until.ts';

const processes = setUpProcesses();

let storage: ObjectStorage;
beforeAll(async () => {
  storage = await startObjectStorage();
});
afterAll(() => storage.stop());

/** The storage in the readiness answer. The process itself is ready. */
async function storageState({ url }: { url: string }): Promise<string> {
  const answer = await fetch(`${url}/health/ready`);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { checks: { storage: string } }).checks.storage;
}

describe('a service with a bucket that cannot be used', () => {
  it.each([
    ['no server listens', async () => `http://127.0.0.1:${await reservePort()}`, /cannot be reached \(ECONNREFUSED\)/],
    ['the host name is wrong', () => 'http://storage.invalid', /cannot be resolved\. Correct S3_ENDPOINT/],
    [
      'it is https instead of http',
      () => storage.endpoint.replace('http:', 'https:'),
      /must begin with http: or https:/,
    ],
  ])('says at start that %s, and so does readiness', async (_what, endpoint, message) => {
    const service = await processes.start({ ...storage.environment, S3_ENDPOINT: await endpoint() });
    await until(() =>
      service.messages.some((line) => line.startsWith('Warning: Test results and data sets cannot be stored.')),
    );
    expect(service.messages.join('\n')).toMatch(message);
    expect(await storageState(service)).toBe('unavailable');
  });

  it('warns at start if the bucket does not exist, and does not warn about a bucket that works', async () => {
    const wrong = await processes.start({ ...storage.environment, S3_BUCKET: 'reslts' });
    await until(() => wrong.messages.some((line) => line.includes('The bucket reslts does not exist at')));
    expect(await storageState(wrong)).toBe('unavailable');
    const right = await processes.start(storage.environment);
    expect(await storageState(right)).toBe('ok');
    expect(right.messages.join('\n')).not.toContain('cannot be stored');
  });
});
