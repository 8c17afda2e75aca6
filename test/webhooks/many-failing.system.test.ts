/** More receivers that fail than are looked at together. */
import { describe, expect, it } from '@jest/globals';
import { createAlertStore } from '../../src/webhooks/alerts/alert-store.ts';
import { createHealthStore } from '../../src/webhooks/lanes/health-store.ts';
import { until } from '../support/until.ts';
import { setUpAlerts, toldTo, type Told } from './alerts-harness.ts';

const setup = setUpAlerts();

describe('1,500 receivers that fail', () => {
  it('are all looked at, however many of those that nothing is sent to fail for longer', async () => {
    const { engine, operator, clock } = await setup.start();
    clock.skew(90 * 60_000 - (Date.now() % 3_600_000));
    engine.start();
    const [url, failure] = ['http://127.0.0.1:9/', { status: undefined, error: 'connection-refused' as const }];
    const paused = await setup.addFailing(url, 1_460, 'paused');
    const active = await setup.addFailing(url, 40);
    // Whatever the order is.
    const before = (days: number): Date => new Date(Date.now() - days * 86_400_000);
    await setup.fail(paused.slice(0, 730), failure, 500, 1, before(4));
    await setup.fail(paused.slice(730), failure, 5, 1, before(1));
    await setup.fail(active.slice(0, 20), failure, 50, 1, before(3));
    await setup.fail(active.slice(20), failure, 50, 1, before(2));
    const told = (type: string): Told[] => toldTo(operator).filter((each) => each.type === type);
    for (let each = 0; each < 6; each += 1) await engine.alerts.tell();
    await until(() => toldTo(operator).length >= 21);
    expect(told('INTEGRATION_FAILING')).toHaveLength(20);
    expect(told('INTEGRATIONS_FAILING')).toMatchObject([{ data: { failing: 40, announced: 20 } }]);
    clock.skew(3_600_000);
    for (let each = 0; each < 6; each += 1) await engine.alerts.tell();
    await until(() => toldTo(operator).length >= 41);
    expect(new Set(told('INTEGRATION_FAILING').map(({ targetId }) => targetId))).toEqual(new Set(active));
    expect(toldTo(operator)).toHaveLength(41);

    // One that works again is found among many about which something was told.
    const alerts = createAlertStore(setup.harness.database);
    const earlier = { since: before(1), isWarned: false, isDisabled: false };
    for (const integrationId of paused) await alerts.put({ integrationId, ...earlier });
    const [sound = ''] = active.toSorted().slice(-1);
    const at = new Date(Date.now() + 1_000);
    const health = { settingsRevision: 1, failuresInARow: 0, lastFailure: undefined, open: undefined };
    await createHealthStore(setup.harness.database).save([
      {
        integrationId: sound,
        health: { ...health, failingSince: undefined, warnedAt: undefined },
        activity: { lastAttemptAt: at, lastSuccessAt: at },
      },
    ]);
    for (let each = 0; each < 6; each += 1) await engine.alerts.tell();
    await until(() => toldTo(operator).length >= 42);
    expect(told('INTEGRATION_RECOVERED')).toMatchObject([{ targetId: sound }]);
  }, 240_000);
});
