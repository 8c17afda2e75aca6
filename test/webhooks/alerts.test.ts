import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Collection } from 'mongodb';
import type { SubscribableType } from '../../src/webhooks/integrations/integration.ts';
import { createHealthStore } from '../../src/webhooks/lanes/health-store.ts';
import type { FailedAttempts } from '../../src/webhooks/lanes/health.ts';
import type { Webhooks } from '../../src/webhooks/webhooks.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { quickTiming, settableClock, startHarness, type Harness } from './webhooks-harness.ts';

const alertTypes: SubscribableType[] = [
  'INTEGRATION_FAILING',
  'INTEGRATION_RECOVERED',
  'INTEGRATION_DISABLED',
  'INTEGRATIONS_FAILING',
];

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());
const receivers: Receiver[] = [];
afterEach(async () => {
  await harness.stopEngines();
  await harness.removeIntegrations();
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
  for (const name of ['lanes', 'alerts']) await harness.database.db.collection(name).deleteMany({});
});

async function receive(): Promise<Receiver> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  return receiver;
}

interface Told {
  readonly type: string;
  readonly targetId: string;
  readonly data: Record<string, unknown>;
}
const toldTo = (receiver: Receiver): Told[] =>
  receiver.requests
    .map(({ body }) => JSON.parse(body.toString()) as Told)
    .filter(({ type }) => type !== 'ORDER_PLACED');

/** Stores the condition of receivers, as after failures. */
async function fail(
  ids: readonly string[],
  failure: Omit<FailedAttempts, 'at'>,
  failures = 9,
  settingsRevision = 1,
): Promise<void> {
  const at = new Date();
  await createHealthStore(harness.database).save(
    ids.map((integrationId) => ({
      integrationId,
      health: {
        ...{ settingsRevision, failingSince: at, warnedAt: undefined, failuresInARow: failures, open: undefined },
        lastFailure: { at, ...failure },
      },
      activity: { lastAttemptAt: at, lastSuccessAt: undefined },
    })),
  );
}

const addFailing = (url: string, count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => harness.addIntegration({ url })));

async function setUp(
  timing = quickTiming,
): Promise<{ engine: Webhooks; operator: Receiver; clock: ReturnType<typeof settableClock> }> {
  const operator = await receive();
  await harness.addIntegration({ url: operator.url, eventTypes: alertTypes });
  const clock = settableClock();
  const engine = harness.createEngine({ clock, timing });
  return { engine, operator, clock };
}

describe('a receiver that fails', () => {
  it('is announced to others once, and when it works again, not to itself', async () => {
    const { engine, operator } = await setUp();
    const receiver = await receive();
    receiver.always(() => ({ kind: 'answer', status: 503 }));
    const id = await harness.addIntegration({ url: receiver.url, eventTypes: ['ORDER_PLACED', ...alertTypes] });
    engine.start();
    for (let each = 0; each < 3; each += 1) await harness.placeOrder(engine);
    await until(
      async () => (await harness.lane(id))?.failuresInARow ?? 0,
      (failures) => failures >= 5,
    );
    for (let each = 0; each < 3; each += 1) await engine.alerts.tell();
    await until(() => toldTo(operator).length > 0);
    expect(toldTo(operator)).toMatchObject([
      {
        ...{ type: 'INTEGRATION_FAILING', targetId: id },
        data: {
          name: 'Receiver',
          status: 503,
          failures: expect.any(Number) as unknown,
          waiting: expect.any(Number) as unknown,
        },
      },
    ]);
    receiver.always(() => ({ kind: 'answer', status: 200 }));
    await until(
      async () => (await harness.lane(id))?.failuresInARow,
      (failures) => failures === 0,
    );
    await engine.alerts.tell();
    await until(() => toldTo(operator).length > 1);
    await engine.alerts.tell();
    expect(toldTo(operator).slice(1)).toMatchObject([{ type: 'INTEGRATION_RECOVERED', targetId: id }]);
    expect(toldTo(receiver)).toEqual([]);
  });

  it('is announced after some minutes if few events are sent to it', async () => {
    const { engine, operator, clock } = await setUp();
    engine.start();
    const [id = ''] = await addFailing('http://127.0.0.1:9/', 1);
    await fail([id], { status: 500, error: undefined }, 2);
    await engine.alerts.tell();
    clock.skew(6 * 60_000);
    await engine.alerts.tell();
    await until(() => toldTo(operator).length > 0);
    expect(toldTo(operator)).toMatchObject([{ targetId: id, data: { failures: 2 } }]);
  });

  it('is announced again when it will be disabled, and when it is', async () => {
    const { engine, operator, clock } = await setUp();
    engine.start();
    const [id = ''] = await addFailing('http://127.0.0.1:9/', 1);
    await fail([id], { status: undefined, error: 'connection-refused' });
    await engine.alerts.tell();
    const [failingSince, disablesAt] = [new Date(), new Date(Date.now() + 86_400_000)];
    await harness.directory.warn({ integrationId: id, settingsRevision: 1, at: new Date(), failingSince, disablesAt });
    await engine.alerts.tell();
    await until(() => toldTo(operator).length > 1);
    expect(toldTo(operator)[1]).toMatchObject({
      ...{ type: 'INTEGRATION_FAILING', targetId: id },
      data: { error: 'connection-refused', disablesAt: disablesAt.toISOString() },
    });
    await harness.directory.disable({ integrationId: id, settingsRevision: 1, reason: 'failing', at: new Date() });
    for (let each = 0; each < 2; each += 1) await engine.alerts.tell();
    await until(() => toldTo(operator).length > 2);
    expect(toldTo(operator).slice(2)).toMatchObject([{ type: 'INTEGRATION_DISABLED', data: { reason: 'failing' } }]);

    // Somebody enables it, it still fails, and is disabled again.
    await harness.edit(id, (integration) => ({
      ...integration,
      status: 'active',
      disabled: undefined,
      warning: undefined,
    }));
    await engine.alerts.tell();
    clock.skew(3_600_000);
    const { settingsRevision = 0 } = (await harness.integration(id)) ?? {};
    await fail([id], { status: 500, error: undefined }, 9, settingsRevision);
    await engine.alerts.tell();
    await harness.directory.disable({ integrationId: id, settingsRevision, reason: 'gone', at: clock.now() });
    await engine.alerts.tell();
    await until(() => toldTo(operator).length > 4);
    expect(toldTo(operator).slice(3)).toMatchObject([
      { type: 'INTEGRATION_FAILING', data: { status: 500 } },
      { type: 'INTEGRATION_DISABLED', data: { reason: 'gone' } },
    ]);
  });

  it('is announced at most once an hour if it works now and then', async () => {
    const { engine, operator, clock } = await setUp();
    // In the middle of an hour.
    clock.skew(90 * 60_000 - (Date.now() % 3_600_000));
    engine.start();
    const [id = ''] = await addFailing('http://127.0.0.1:9/', 1);
    const health = createHealthStore(harness.database);
    for (let each = 0; each < 3; each += 1) {
      await fail([id], { status: 500, error: undefined });
      await engine.alerts.tell();
      const at = new Date(Date.now() + 1_000);
      const sound = { failingSince: undefined, warnedAt: undefined, failuresInARow: 0, lastFailure: undefined };
      await health.save([
        {
          integrationId: id,
          health: { settingsRevision: 1, open: undefined, ...sound },
          activity: { lastAttemptAt: at, lastSuccessAt: at },
        },
      ]);
      await engine.alerts.tell();
      await new Promise((resolve) => setTimeout(resolve, 1_100));
    }
    await until(() => toldTo(operator).length > 1);
    expect(toldTo(operator).map(({ type }) => type)).toEqual(['INTEGRATION_FAILING', 'INTEGRATION_RECOVERED']);
  });
});

describe('many receivers', () => {
  it('are announced together after twenty, by two processes at the same time', async () => {
    const { engine, operator, clock } = await setUp();
    clock.skew(90 * 60_000 - (Date.now() % 3_600_000));
    const other = harness.createEngine({ clock });
    engine.start();
    const ids = await addFailing('http://127.0.0.1:9/', 300);
    await fail(ids, { status: undefined, error: 'connection-refused' });
    await Promise.all([engine.alerts.tell(), other.alerts.tell()]);
    await Promise.all([engine.alerts.tell(), other.alerts.tell()]);
    await until(() => toldTo(operator).length >= 21);
    const told = toldTo(operator);
    expect(told.filter(({ type }) => type === 'INTEGRATION_FAILING')).toHaveLength(20);
    expect(new Set(told.map(({ targetId }) => targetId)).size).toBeGreaterThanOrEqual(20);
    expect(told.filter(({ type }) => type === 'INTEGRATIONS_FAILING')).toMatchObject([
      { data: { failing: 300, announced: 20 } },
    ]);
    expect(told).toHaveLength(21);
  });

  it('that cannot be reached while nobody can are not announced', async () => {
    const { engine, operator } = await setUp();
    engine.start();
    const ids = await addFailing('http://127.0.0.1:9/', 5);
    await fail(ids.slice(0, 2), { status: undefined, error: 'unreachable' });
    await fail(ids.slice(2), { status: undefined, error: 'connect-timeout' });
    await engine.alerts.tell();
    const alerts: Collection = harness.database.db.collection('alerts');
    expect(await alerts.countDocuments()).toBe(0);
    // Another receiver answers, so it is their fault.
    const [answers = ''] = await addFailing('http://127.0.0.1:9/', 1);
    await fail([answers], { status: 500, error: undefined });
    await engine.alerts.tell();
    await until(() => toldTo(operator).length >= 6);
    expect(new Set(toldTo(operator).map(({ targetId }) => targetId))).toEqual(new Set([...ids, answers]));
  });
});
