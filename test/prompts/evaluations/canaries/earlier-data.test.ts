/**
 * What was stored when canaries were called rollouts. `earlier-data.jsonl` has the documents that a process wrote then: a
 * rollout that was stopped, one of the same versions that runs, their invocations, events that wait, and a filter.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { BSON } from 'mongodb';
import { clockAhead } from '../../../support/clock.ts';
import { openDatabaseOf } from '../../../support/per-operation.ts';
import { startReceiver, type Receiver } from '../../../support/receiver.ts';
import { startTestService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { labelPath } from '../../labels/labels-harness.ts';
import type { RawDocument } from '../../prompts-harness.ts';
import { any, canaryPath, countsOf, getCanary, historyOfCanaries, invokeMany, production } from './canaries-harness.ts';

const recordedAt = new Date('2026-11-29T07:47:58.841Z');
const prompt = 'notice';
let service: TestService;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  service = await startTestService({
    environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
    clock: clockAhead(recordedAt.getTime() - Date.now()),
  });
  const lines = await readFile(path.join(import.meta.dirname, 'earlier-data.jsonl'), 'utf8');
  const database = await openDatabaseOf(service);
  // The prompt last: its events go to the integration.
  for (const line of lines.trim().split('\n').toReversed()) {
    const { collection, document } = BSON.EJSON.parse(line) as { collection: string; document: RawDocument };
    const isIntegration = collection === 'integrations';
    await database.db
      .collection<RawDocument>(collection)
      .insertOne({ ...document, ...(isIntegration && { url: receiver.url }) });
  }
  await database.close();
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

describe('what was a rollout', () => {
  it('is a canary in the label, its history and the invocation log, with all that was counted', async () => {
    const { body } = await getCanary(service, prompt);
    const arms = { stable: { requests: 9, failures: 0 }, canary: { requests: 3, failures: 3 } };
    expect(body).toMatchObject({ stable_version: 1, version: 2, share: 0.5, promote: { min_requests: 2 }, ...arms });
    expect(body.evidence).toBeCloseTo(12.109, 3);
    expect(await countsOf(service, body.id as string)).toEqual(arms);
    const [, , stopped] = await historyOfCanaries(service, prompt);
    const ended = { stable: { requests: 6, failures: 0 }, canary: { requests: 2, failures: 2 } };
    expect(stopped.canary).toMatchObject({ version: 2, share: 0.5, ended: { reason: 'stopped' }, ...ended });
    const ofCanary = `/api/v1/invocations?canary_id=${body.id as string}&arm=canary`;
    expect((await service.call('GET', ofCanary)).body.data).toHaveLength(3);
  });

  it('is one in the audit log, and found by the names of today', async () => {
    const found = async (operation: string): Promise<unknown[]> => {
      const { body } = await service.call('GET', `/api/v1/audit-log?operation=${operation}`);
      return (body.data as Record<string, unknown>[]).map((record) => [
        record['operation'],
        record['before'],
        record['after'],
      ]);
    };
    const at = (share: number) => ({ canaries: { [production]: { version: 2, share } } });
    expect(await found('setCanary')).toEqual([
      ['setCanary', at(0.25), at(0.5)],
      ['setCanary', undefined, at(0.25)],
      ['setCanary', undefined, at(0.5)],
    ]);
    expect(await found('deleteCanary')).toEqual([['deleteCanary', at(0.5), undefined]]);
  });

  it('is one in filters, and in the events that were not sent yet', async () => {
    const { body } = await service.call('GET', '/api/v1/integrations');
    const causes = ['moved', 'canary-started', 'canary-changed', 'canary-stopped'];
    const filter = { 'data.cause': { $in: causes }, 'data.canaryVersion': { $exists: true } };
    expect(body.data).toMatchObject([{ filter }]);
    const received = await until(
      () => receiver.requests.map(({ body: sent }) => (JSON.parse(sent.toString()) as { data: object }).data),
      ({ length }) => length >= 4,
    );
    const of = { slug: prompt, label: production, from: 1, to: 1, canaryVersion: 2 };
    expect(received).toEqual([
      expect.objectContaining({ ...of, sequence: 2, cause: 'canary-started' }),
      expect.objectContaining({ ...of, sequence: 3, cause: 'canary-stopped' }),
      expect.objectContaining({ ...of, sequence: 4, cause: 'canary-started' }),
      expect.objectContaining({ ...of, sequence: 5, cause: 'canary-changed' }),
    ]);
    expect(received).not.toContainEqual(expect.objectContaining({ rolloutVersion: expect.anything() }));
  });

  it('goes on: draws, counts, and is promoted', async () => {
    const versions = await invokeMany(service, prompt, 8);
    const counted = await until(
      async () => (await getCanary(service, prompt)).body,
      ({ stable, canary }) => stable.requests + canary.requests === 20,
    );
    expect(counted.canary.failures).toBe(3 + versions.filter((version) => version === 2).length);
    const promoted = await service.call('POST', `${canaryPath(prompt)}/promote`, { headers: any });
    expect([promoted.status, promoted.body.ended.reason]).toEqual([200, 'promoted']);
    expect((await service.call('GET', labelPath(prompt, production))).body.version).toBe(2);
  });
});
