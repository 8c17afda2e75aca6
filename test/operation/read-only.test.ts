import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BSON } from 'mongodb';
import type { PagedDatabase } from '../../src/storage/db/pages.ts';
import { toOutboxDocuments } from '../../src/webhooks/events/outbox.ts';
import { operationTable, type OperationId, type OperationRow } from '../../generated/operations.ts';
import { createIntegration } from '../webhooks/integrations/integrations-harness.ts';
import { callEveryOperation, environmentOfEveryOperation, type Call } from '../support/every-operation.ts';
import { openDatabaseOf, problem, problemIn } from '../support/per-operation.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const operations = Object.entries(operationTable) as [OperationId, OperationRow][];
const [refused, served] = [true, false].map((isRefused) =>
  operations.filter(([, { problems }]) => problems.includes('read-only') === isRefused),
) as [typeof operations, typeof operations];

const unrelayed = randomUUID();
let folder: string;
let environment: Record<string, string>;
let receiver: Receiver;
let database: PagedDatabase;
let calls: Record<OperationId, Call>;
let copy: TestService;
let before: Record<string, string>;

const start = (more: Record<string, string> = {}): Promise<TestService> =>
  startTestService({ environment: { ...environment, ...more } });

/** All documents and indexes, by collection. */
async function contents({ db }: PagedDatabase): Promise<Record<string, string>> {
  const names = (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name).toSorted();
  const entries = names.map(async (name): Promise<[string, string]> => {
    const documents = await db.collection(name).find().sort({ _id: 1 }).toArray();
    return [name, BSON.EJSON.stringify([documents, await db.collection(name).indexes()])];
  });
  return Object.fromEntries(await Promise.all(entries));
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'read-only-'));
  receiver = await startReceiver();
  const { MONGODB_DATABASE = '' } = (copy = await startTestService()).environment;
  await copy.close();
  environment = {
    ...environmentOfEveryOperation,
    MONGODB_DATABASE,
    DATA_DIR: folder,
    SECRETS_KEY: randomBytes(32).toString('hex'),
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  };
  // Its deliveries are due, because it sends none.
  const service = await start({ WEBHOOKS: 'off' });
  expect((await service.call('GET', '/health/ready')).body).toMatchObject({ read_only: false, sends_webhooks: false });
  const { id } = await createIntegration(service, { url: receiver.url });
  await service.call('POST', `/api/v1/integrations/${id}/test`);
  calls = await callEveryOperation(service);
  await service.call('POST', '/v1/orders', calls.createOrder);
  // The audit log gets what waits, so that the copy shows it.
  await service.call('GET', '/api/v1/audit-log');
  await service.close();
  database = await openDatabaseOf(service);
  // An event that no process has relayed.
  const place = { targetId: randomUUID(), locationId: randomUUID(), createdAt: new Date() };
  const data = { itemNames: ['Tea'], itemTags: [], total: 250, currency: 'EUR', spotName: '', zoneName: '' };
  const outbox = toOutboxDocuments([{ id: unrelayed, type: 'ORDER_PLACED', ...place, data }]);
  await database.db.collection('orders').updateOne({}, { $set: { outbox } });
  before = await contents(database);
  copy = await start({ READ_ONLY: 'on' });
});
afterAll(async () => {
  await database.close();
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
});

describe('READ_ONLY=on', () => {
  it('says so', async () => {
    const { body } = await copy.call('GET', '/health/ready');
    expect(body).toMatchObject({ status: 'ok', read_only: true, sends_webhooks: false });
  });

  it.each(refused)('refuses %s', async (operation) => {
    const { method, path: target, ...options } = calls[operation];
    const { status, body } = await copy.call(method, target, options);
    expect([status, problemIn(body)]).toEqual([403, problem('read-only')]);
  });

  it.each(served)('answers %s', async (operation) => {
    const { method, path: target, ...options } = calls[operation];
    const { status, text } = await copy.call(method, target, options);
    expect([operation, text, status < 300]).toEqual([operation, text, true]);
  });

  it('signs in with a key, not with a link', async () => {
    const { status, headers } = await copy.call('POST', '/api/v1/session', { ...calls.createSession, key: null });
    expect(status).toBe(201);
    const own = { cookie: (headers['set-cookie'] ?? '').split(';')[0] ?? '', 'sec-fetch-site': 'same-origin' };
    expect((await copy.call('GET', '/api/v1/prompts', { key: null, headers: own })).status).toBe(200);
    const link = { sign_in_token: randomBytes(32).toString('base64url') };
    expect((await copy.call('POST', '/api/v1/session', { key: null, body: link })).status).toBe(401);
  });

  it('sends nothing and changes nothing; a start without it sends what is due', async () => {
    await copy.close();
    expect(await contents(database)).toEqual(before);
    expect(receiver.requests).toHaveLength(0);
    const service = await start();
    await until(() => receiver.requests.some(({ headers }) => headers['webhook-id'] === unrelayed));
    await until(() => receiver.requests.length >= 3);
    await service.close();
  });
});

describe('the start with READ_ONLY=on', () => {
  it('refuses an empty database and an empty folder, and creates nothing', async () => {
    const noData = 'There is no data of an earlier start in';
    await expect(start({ MONGODB_DATABASE: `test_${randomUUID().slice(0, 8)}`, READ_ONLY: 'on' })).rejects.toThrow(
      noData,
    );
    const unused = path.join(folder, 'unused');
    const embedded = { READ_ONLY: 'on', MONGODB_URI: '', DATA_DIR: unused };
    await expect(startTestService({ environment: embedded })).rejects.toThrow(noData);
    expect(await readdir(folder)).not.toContain('unused');
  });

  it('refuses data that this release has to migrate, and data without their key', async () => {
    const next = { version: 1_000, title: 'of a later release', run: () => Promise.resolve() };
    const later = startTestService({ environment: { ...environment, READ_ONLY: 'on' }, migrations: [next] });
    await expect(later).rejects.toThrow('has to migrate the data before it can serve them');
    await expect(start({ SECRETS_KEY: '', READ_ONLY: 'on' })).rejects.toThrow('READ_ONLY=on creates none');
  });
});
