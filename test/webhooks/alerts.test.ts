import { describe, expect, it } from '@jest/globals';
import type { Collection } from 'mongodb';
import { createHealthStore } from '../../src/webhooks/lanes/health-store.ts';
import { expectIndexRead } from '../support/query-plan.ts';
import { until } from '../support/until.ts';
import { alertTypes, setUpAlerts, toldTo } from './alerts-harness.ts';

const setup = setUpAlerts();

describe('a receiver that fails', () => {
  it('is announced to others once, and when it works again, not to itself', async () => {
    const { engine, operator } = await setup.start();
    const receiver = await setup.receive();
    receiver.always(() => ({ kind: 'answer', status: 503 }));
    const id = await setup.harness.addIntegration({ url: receiver.url, eventTypes: ['ORDER_PLACED', ...alertTypes] });
    engine.start();
    for (let each = 0; each < 3; each += 1) await setup.harness.placeOrder(engine);
    await until(
      async () => (await setup.harness.lane(id))?.failuresInARow ?? 0,
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
      async () => (await setup.harness.lane(id))?.failuresInARow,
      (failures) => failures === 0,
    );
    await engine.alerts.tell();
    await until(() => toldTo(operator).length > 1);
    await engine.alerts.tell();
    expect(toldTo(operator).slice(1)).toMatchObject([{ type: 'INTEGRATION_RECOVERED', targetId: id }]);
    expect(toldTo(receiver)).toEqual([]);
  });

  it('is announced after some minutes if few events are sent to it', async () => {
    const { engine, operator, clock } = await setup.start();
    engine.start();
    const [id = ''] = await setup.addFailing('http://127.0.0.1:9/', 1);
    await setup.fail([id], { status: 500, error: undefined }, 2);
    await engine.alerts.tell();
    clock.skew(6 * 60_000);
    await engine.alerts.tell();
    await until(() => toldTo(operator).length > 0);
    expect(toldTo(operator)).toMatchObject([{ targetId: id, data: { failures: 2 } }]);
  });

  it('is announced again when it will be disabled, and when it is', async () => {
    const { engine, operator, clock } = await setup.start();
    engine.start();
    const [id = ''] = await setup.addFailing('http://127.0.0.1:9/', 1);
    await setup.fail([id], { status: undefined, error: 'connection-refused' });
    await engine.alerts.tell();
    const [failingSince, disablesAt] = [new Date(), new Date(Date.now() + 86_400_000)];
    await setup.harness.directory.warn({
      integrationId: id,
      settingsRevision: 1,
      at: new Date(),
      failingSince,
      disablesAt,
    });
    await engine.alerts.tell();
    await until(() => toldTo(operator).length > 1);
    expect(toldTo(operator)[1]).toMatchObject({
      ...{ type: 'INTEGRATION_FAILING', targetId: id },
      data: { error: 'connection-refused', disablesAt: disablesAt.toISOString() },
    });
    await setup.harness.directory.disable({
      integrationId: id,
      settingsRevision: 1,
      reason: 'failing',
      at: new Date(),
    });
    for (let each = 0; each < 2; each += 1) await engine.alerts.tell();
    await until(() => toldTo(operator).length > 2);
    expect(toldTo(operator).slice(2)).toMatchObject([{ type: 'INTEGRATION_DISABLED', data: { reason: 'failing' } }]);

    // Somebody enables it, it still fails, and is disabled again.
    await setup.harness.edit(id, (integration) => ({
      ...integration,
      status: 'active',
      disabled: undefined,
      warning: undefined,
    }));
    await engine.alerts.tell();
    clock.skew(3_600_000);
    const { settingsRevision = 0 } = (await setup.harness.integration(id)) ?? {};
    await setup.fail([id], { status: 500, error: undefined }, 9, settingsRevision);
    await engine.alerts.tell();
    await setup.harness.directory.disable({ integrationId: id, settingsRevision, reason: 'gone', at: clock.now() });
    await engine.alerts.tell();
    await until(() => toldTo(operator).length > 4);
    expect(toldTo(operator).slice(3)).toMatchObject([
      { type: 'INTEGRATION_FAILING', data: { status: 500 } },
      { type: 'INTEGRATION_DISABLED', data: { reason: 'gone' } },
    ]);
  });

  it('is announced at most once an hour if it works now and then', async () => {
    const { engine, operator, clock } = await setup.start();
    // In the middle of an hour.
    clock.skew(90 * 60_000 - (Date.now() % 3_600_000));
    engine.start();
    const [id = ''] = await setup.addFailing('http://127.0.0.1:9/', 1);
    const health = createHealthStore(setup.harness.database);
    for (let each = 0; each < 3; each += 1) {
      await setup.fail([id], { status: 500, error: undefined });
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
    const { engine, operator, clock } = await setup.start();
    clock.skew(90 * 60_000 - (Date.now() % 3_600_000));
    const other = setup.harness.createEngine({ clock });
    engine.start();
    const ids = await setup.addFailing('http://127.0.0.1:9/', 300);
    await setup.fail(ids, { status: undefined, error: 'connection-refused' });
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

  it('that are disabled at once are announced together, and one by one in the next hours', async () => {
    const { engine, operator, clock } = await setup.start();
    clock.skew(90 * 60_000 - (Date.now() % 3_600_000));
    engine.start();
    const ids = await setup.addFailing('http://127.0.0.1:9/', 25);
    await setup.fail(ids, { status: 410, error: undefined }, 1);
    for (const integrationId of ids) {
      await setup.harness.directory.disable({ integrationId, settingsRevision: 1, reason: 'gone', at: clock.now() });
    }
    for (let each = 0; each < 2; each += 1) await engine.alerts.tell();
    await until(() => toldTo(operator).length >= 21);
    expect(toldTo(operator).filter(({ type }) => type === 'INTEGRATIONS_FAILING')).toMatchObject([
      { data: { failing: 25, announced: 20 } },
    ]);
    clock.skew(3_600_000);
    for (let each = 0; each < 2; each += 1) await engine.alerts.tell();
    await until(() => toldTo(operator).length >= 26);
    const disabled = toldTo(operator).filter(({ type }) => type === 'INTEGRATION_DISABLED');
    expect(new Set(disabled.map(({ targetId }) => targetId))).toEqual(new Set(ids));
    expect(toldTo(operator)).toHaveLength(26);
  });

  it('are found by an index', async () => {
    const since = { $gt: new Date(0), $lte: new Date() };
    const failing = setup.harness.database.db.collection('lanes').find({ 'health.failing_since': since });
    expectIndexRead(await failing.sort({ 'health.failing_since': -1, _id: 1 }).limit(500).explain('queryPlanner'));
  });

  it('that cannot be reached while nobody can are not announced', async () => {
    const { engine, operator } = await setup.start();
    engine.start();
    const ids = await setup.addFailing('http://127.0.0.1:9/', 5);
    await setup.fail(ids.slice(0, 2), { status: undefined, error: 'unreachable' });
    await setup.fail(ids.slice(2), { status: undefined, error: 'connect-timeout' });
    await engine.alerts.tell();
    const alerts: Collection = setup.harness.database.db.collection('alerts');
    expect(await alerts.countDocuments()).toBe(0);
    // Another receiver answers, so it is their fault.
    const [answers = ''] = await setup.addFailing('http://127.0.0.1:9/', 1);
    await setup.fail([answers], { status: 500, error: undefined });
    await engine.alerts.tell();
    await until(() => toldTo(operator).length >= 6);
    expect(new Set(toldTo(operator).map(({ targetId }) => targetId))).toEqual(new Set([...ids, answers]));
  });
});
