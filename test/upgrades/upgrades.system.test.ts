import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { migrations } from '../../src/storage/db/migrations/migrations.ts';
import { connectDatabase } from '../../src/storage/db/client.ts';
import { clockAhead } from '../support/clock.ts';
import { testDatabaseUri } from '../support/database.ts';
import { silentLog } from '../support/log.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { readSnapshot, restoreSnapshot, type Snapshot } from './snapshot.ts';

const hourMs = 3_600_000;

describe.each(['00b71ea', '43e2c07'])('a database that commit %s wrote', (name) => {
  let snapshot: Snapshot;
  let service: TestService;
  let receiver: Receiver;
  beforeAll(async () => {
    snapshot = await readSnapshot(name);
    receiver = await startReceiver();
    const databaseName = `test_${randomUUID().slice(0, 8)}`;
    const database = await connectDatabase({ uri: testDatabaseUri(), databaseName, log: silentLog });
    await restoreSnapshot(database.db, snapshot);
    // Its receiver answered 500 then. Now it works, at another address.
    await database.db
      .collection<{ _id: string }>('integrations')
      .updateOne({ _id: snapshot.facts.failing }, { $set: { url: receiver.url } });
    // Basis points.
    await database.db.collection('locations').updateMany({}, { $set: { tax_rate: 825, fee_rate: 5 } });
    await database.close();
    service = await startTestService({
      // An hour later: what was written then has not expired, and what waits is due.
      clock: clockAhead(snapshot.facts.madeAt + hourMs - Date.now()),
      environment: {
        MONGODB_DATABASE: databaseName,
        SECRETS_KEY: snapshot.facts.secretsKey,
        WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      },
    });
  });
  afterAll(async () => {
    await service.close();
    await receiver.close();
  });
  const get = async (target: string) => (await service.call('GET', target)).body;

  it('is migrated while the service runs', async () => {
    const info = await until(
      () => get('/'),
      ({ migration }) => migration === undefined,
    );
    expect(info.schema).toEqual({ version: migrations.at(-1)?.version, oldest_reader: 6 });
    expect((await get('/health/ready')).checks.migration).toBe('complete');
  });

  it('has all its prompts and versions, which can be invoked', async () => {
    const { prompt } = snapshot.facts;
    expect((await get('/api/v1/prompts')).pagination.total).toBe(21);
    const contents = await Promise.all(
      [1, 2, 3].map(
        async (version) => (await get(`/api/v1/prompts/${prompt}/versions/${version}`)).messages[0].content,
      ),
    );
    expect(contents).toEqual(['Hello {{name}}', 'Good day {{name}}', 'Good evening {{name}}']);
    const invoked = await service.call('POST', `/api/v1/prompts/${prompt}/invoke`, {
      body: { variables: { name: 'Ada' }, provider: 'echo' },
    });
    expect([invoked.status, invoked.body.text]).toEqual([200, expect.stringContaining('Good evening Ada')]);
  });

  it('has all its orders; idempotency keys repeat them, and API keys work', async () => {
    const { orders, order, completed, apiKey } = snapshot.facts;
    const { data, pagination } = (await service.call('GET', '/v1/orders?limit=100', { key: apiKey })).body;
    expect([pagination.total, new Set(data.map(({ id }: { id: string }) => id))]).toEqual([100, new Set(orders)]);
    expect(data.filter(({ status }: { status: string }) => status === 'completed')).toHaveLength(1);
    expect((await get(`/v1/orders/${completed}`)).status).toBe('completed');
    const again = await service.call('POST', '/v1/orders', { body: order, headers: { 'idempotency-key': 'order-7' } });
    expect([again.body.id, again.headers['idempotency-replayed']]).toEqual([orders[7], 'true']);
    const more = await service.call('POST', '/v1/orders', { body: order, headers: { 'idempotency-key': 'order-new' } });
    expect([more.status, orders.includes(more.body.id as string)]).toEqual([201, false]);
  });

  it('has the rates of its locations, in parts per million', async () => {
    const { data } = await get('/v1/locations');
    expect(data[0]).toMatchObject({ tax_rate_ppm: 82_500, fee_rate_ppm: 500 });
  });

  it('has all its deliveries, and sends those that wait, signed with the stored secret', async () => {
    const { working, orders, signingSecret } = snapshot.facts;
    const delivered = await get(`/api/v1/integrations/${working}/deliveries?status=delivered&limit=1`);
    expect(delivered.pagination.total).toBeGreaterThanOrEqual(orders.length);
    const sent = () => new Set(receiver.requests.map(({ body }) => JSON.parse(body.toString()).targetUuid as string));
    await until(() => orders.every((id) => sent().has(id)));
    const [request] = receiver.requests;
    if (request === undefined) throw new Error('nothing was received');
    expect(request.headers['x-token']).toBe('token-of-a-snapshot');
    const secret = `whsec_${Buffer.from(signingSecret).toString('base64')}`;
    const clockNow = Date.now;
    Date.now = () => Number(request.headers['webhook-timestamp']) * 1_000;
    try {
      new Webhook(secret).verify(request.body.toString(), request.headers as Record<string, string>);
    } finally {
      Date.now = clockNow;
    }
  });
});
