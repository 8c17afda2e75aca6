import { afterAll, afterEach, beforeAll } from '@jest/globals';
import pLimit from 'p-limit';
import type { IntegrationStatus, SubscribableType } from '../../src/webhooks/integrations/integration.ts';
import { createHealthStore } from '../../src/webhooks/lanes/health-store.ts';
import type { FailedAttempts } from '../../src/webhooks/lanes/health.ts';
import type { Webhooks } from '../../src/webhooks/webhooks.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { settableClock, startHarness, type Harness } from './webhooks-harness.ts';

export const alertTypes: SubscribableType[] = [
  'INTEGRATION_FAILING',
  'INTEGRATION_RECOVERED',
  'INTEGRATION_DISABLED',
  'INTEGRATIONS_FAILING',
];

export interface Told {
  readonly id: string;
  readonly type: string;
  readonly targetId: string;
  readonly data: Record<string, unknown>;
}

/** The alerts that a receiver has got, each once. */
export function toldTo({ requests }: Receiver): Told[] {
  const told = requests.map(({ body }) => JSON.parse(body.toString()) as Told);
  const first = new Map(told.toReversed().map((each) => [each.id, each]));
  return told.filter((each) => each.type !== 'ORDER_PLACED' && first.get(each.id) === each);
}

export interface AlertsSetup {
  readonly harness: Harness;
  receive(): Promise<Receiver>;
  /** Stores the condition of receivers, as after failures. */
  fail(
    ids: readonly string[],
    failure: Omit<FailedAttempts, 'at'>,
    failures?: number,
    settingsRevision?: number,
    at?: Date,
  ): Promise<void>;
  addFailing(url: string, count: number, status?: IntegrationStatus): Promise<string[]>;
  /** An engine, not started, and an operator's receiver of alerts. */
  start(): Promise<{ engine: Webhooks; operator: Receiver; clock: ReturnType<typeof settableClock> }>;
}

/** Starts the delivery engine's database for the tests of a file. */
export function setUpAlerts(): AlertsSetup {
  let started: Harness | undefined;
  const receivers: Receiver[] = [];
  const harness = (): Harness => {
    if (started === undefined) throw new Error('only after beforeAll');
    return started;
  };
  const receive = async (): Promise<Receiver> => {
    const receiver = await startReceiver();
    receivers.push(receiver);
    return receiver;
  };
  beforeAll(async () => {
    started = await startHarness();
  });
  afterAll(() => started?.close());
  afterEach(async () => {
    await harness().stopEngines();
    await harness().removeIntegrations();
    await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
    for (const name of ['lanes', 'alerts']) await harness().database.db.collection(name).deleteMany({});
  });
  return {
    get harness() {
      return harness();
    },
    receive,
    async fail(ids, failure, failures = 9, settingsRevision = 1, at = new Date()) {
      await createHealthStore(harness().database).save(
        ids.map((integrationId) => ({
          integrationId,
          health: {
            ...{ settingsRevision, failingSince: at, warnedAt: undefined, failuresInARow: failures, open: undefined },
            lastFailure: { at, ...failure },
          },
          activity: { lastAttemptAt: at, lastSuccessAt: undefined },
        })),
      );
    },
    addFailing(url, count, status = 'active') {
      // A write that waits behind thousands of others would fail on a busy machine.
      const limit = pLimit(20);
      const add = (): Promise<string> => limit(() => harness().addIntegration({ url, status }));
      return Promise.all(Array.from({ length: count }, add));
    },
    async start() {
      const operator = await receive();
      await harness().addIntegration({ url: operator.url, eventTypes: alertTypes });
      const clock = settableClock();
      return { engine: harness().createEngine({ clock }), operator, clock };
    },
  };
}
