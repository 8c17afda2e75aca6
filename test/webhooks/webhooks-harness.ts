import { randomBytes, randomUUID } from 'node:crypto';
import type { Collection } from 'mongodb';
import type { PagedDatabase } from '../../src/storage/db/pages.ts';
import { createLookUp } from '../../src/base/outbound/look-up.ts';
import type { OutboxEntry } from '../../src/webhooks/events/event.ts';
import { serialiseEvent } from '../../src/webhooks/events/serialise.ts';
import { outboxIndex, toOutboxDocuments, type WithOutbox } from '../../src/webhooks/events/outbox.ts';
import { createIntegrationDirectory, type IntegrationDirectory } from '../../src/webhooks/integrations/directory.ts';
import { deliveryId } from '../../src/webhooks/deliveries/delivery.ts';
import { headerRecord, secretRecord, type Integration } from '../../src/webhooks/integrations/integration.ts';
import { createSecretBox, type Sealed } from '../../src/base/secrets/secret-box.ts';
import {
  createIntegrationStore,
  integrationIndexes,
  type IntegrationStore,
} from '../../src/webhooks/integrations/integration-store.ts';
import type { Attempt, Delivery, DeliveryStatus, StampedAttempt } from '../../src/webhooks/deliveries/delivery.ts';
import { createDeliveryStore, type DeliveryStore } from '../../src/webhooks/deliveries/delivery-store.ts';
import type { LaneHealth } from '../../src/webhooks/lanes/health.ts';
import { createHealthStore } from '../../src/webhooks/lanes/health-store.ts';
import { createAddressRule, loopbackNetworks } from '../../src/base/outbound/address-rules.ts';
import { defaultTiming, type WebhookTiming } from '../../src/webhooks/timing.ts';
import {
  createWebhooks,
  webhookIndexes,
  type WebhookDependencies,
  type Webhooks,
} from '../../src/webhooks/webhooks.ts';
import { createIndexes, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { silentLog } from '../support/log.ts';
import { until } from '../support/until.ts';
import { readList } from '../support/read-list.ts';
import { systemClock, type Clock } from '../../src/base/runtime/clock.ts';
import { system } from '../../src/base/runtime/system.ts';
import { someEntry } from '../support/author.ts';

/**
 * The times of the design, shortened so that tests can wait for them. Times that must not pass while the machine is
 * busy are long.
 */
export const quickTiming: WebhookTiming = {
  ...defaultTiming,
  schedule: [0, 100, 200, 300],
  connectTimeout: 10_000,
  totalTimeout: 10_000,
  lease: 15_000,
  beat: 500,
  poll: 100,
  breaker: { failures: 5, firstOpen: 500, longestOpen: 2_000 },
};

/** For engines that take over from another one. */
export const takeoverTiming: WebhookTiming = {
  ...quickTiming,
  connectTimeout: 5_000,
  totalTimeout: 5_000,
  lease: 4_000,
};

/** For receivers that never answer. */
export const hastyTiming: WebhookTiming = { ...quickTiming, connectTimeout: 500, totalTimeout: 1_000 };

const secretBox = createSecretBox(randomBytes(32));

/** A business document in the form that the relay knows. */
interface Order extends WithOutbox {
  _id: string;
}

export interface NewReceiver {
  readonly url: string;
  readonly secret?: string;
  readonly nextSecret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly eventTypes?: Integration['eventTypes'];
  readonly locationIds?: Integration['locationIds'];
  readonly filter?: Integration['filter'];
  readonly status?: Integration['status'];
}

/** Where orders are placed. */
export const defaultLocationId = '4f5f4a6e-6f0e-4a53-9d0f-2e6a3e0f9c11';

/** The delivery engine on its own database, without the rest of the service. */
export interface Harness {
  readonly database: TestDatabase;
  readonly integrationStore: IntegrationStore;
  readonly directory: IntegrationDirectory;
  readonly deliveries: DeliveryStore;
  /** Another engine on the same database, like another process. It is not started. */
  createEngine(options?: Partial<WebhookDependencies> & { readonly on?: PagedDatabase }): Webhooks;
  addIntegration(receiver: NewReceiver): Promise<string>;
  /** Changes an integration as an operator does. */
  edit(id: string, change: (integration: Integration) => Integration): Promise<void>;
  integration(id: string): Promise<Integration | undefined>;
  /** Writes an order with an event in its outbox. @returns the id of the event */
  placeOrder(webhooks?: Webhooks, entry?: Partial<OutboxEntry>): Promise<string>;
  /** Writes many orders at once, each with an event. The relay finds them when it polls. @returns the ids of the events */
  placeOrders(entries: readonly Partial<OutboxEntry>[]): Promise<string[]>;
  /** Removes all integrations, so that the events of the next test go only to its own. */
  removeIntegrations(): Promise<void>;
  /** The recorded failures of a receiver. */
  lane(integrationId: string): Promise<LaneHealth | undefined>;
  /** The order whose outbox contains an event. */
  holderOf(eventId: string): Promise<string>;
  waitingEvents(): Promise<number>;
  delivery(eventId: string, integrationId: string): Promise<Delivery | undefined>;
  attempts(eventId: string, integrationId: string): Promise<Attempt[]>;
  /** Waits until all deliveries of an integration have a status. */
  settled(integrationId: string, count: number, status?: DeliveryStatus): Promise<void>;
  /** Stops all engines, including those of failed tests. */
  stopEngines(): Promise<void>;
  close(): Promise<void>;
}

/** An engine with short times that can send to this machine. */
export function engineOn(database: PagedDatabase, options: Partial<WebhookDependencies> = {}): Webhooks {
  return createWebhooks({
    ...system,
    database,
    integrations: createIntegrationDirectory(createIntegrationStore(database), secretBox),
    serialise: serialiseEvent,
    mayConnect: createAddressRule(loopbackNetworks),
    lookUp: createLookUp(),
    version: '1.2.3',
    log: { ...silentLog, error: () => undefined },
    timing: quickTiming,
    ...options,
  });
}

export async function startHarness(): Promise<Harness> {
  const database = await createTestDatabase();
  await createIndexes(database, [
    ...webhookIndexes,
    integrationIndexes,
    { collection: 'orders', indexes: [{ ...outboxIndex }] },
  ]);
  const orders: Collection<Order> = database.db.collection('orders');
  const integrationStore = createIntegrationStore(database);
  const directory = createIntegrationDirectory(integrationStore, secretBox);
  const deliveries = createDeliveryStore(database);
  const health = createHealthStore(database);
  const started: Webhooks[] = [];
  const newOrder = (entry: Partial<OutboxEntry>): { order: Order; event: OutboxEntry } => {
    const id = randomUUID();
    const event: OutboxEntry = {
      id: randomUUID(),
      type: 'ORDER_PLACED',
      targetId: id,
      locationId: defaultLocationId,
      createdAt: new Date(),
      data: { itemNames: ['Café crème', 'Crêpe'], itemTags: ['hot'], total: 1250, currency: 'EUR' },
      ...entry,
    };
    return { order: { _id: id, outbox: toOutboxDocuments([event]) }, event };
  };
  const stopEngines = async (): Promise<void> => {
    await Promise.all(started.splice(0).map((webhooks) => webhooks.stop(1_000)));
  };

  return {
    database,
    integrationStore,
    directory,
    deliveries,
    createEngine({ on = database, ...options } = {}) {
      const webhooks = engineOn(on, options);
      started.push(webhooks);
      return webhooks;
    },
    async addIntegration({
      url,
      secret,
      nextSecret,
      headers = {},
      eventTypes = ['ORDER_PLACED'],
      locationIds,
      filter,
      status = 'active',
    }) {
      const id = randomUUID();
      const at = new Date();
      const seal = (text: string): Sealed => secretBox.seal(text, secretRecord(id));
      await integrationStore.insert(
        {
          id,
          name: 'Receiver',
          url,
          eventTypes,
          status,
          createdAt: at,
          updatedAt: at,
          headers: Object.entries(headers).map(([name, value]) => ({
            name,
            value: secretBox.seal(value, headerRecord(id, name)),
          })),
          secret: secret === undefined ? undefined : seal(secret),
          rotation:
            nextSecret === undefined ? undefined : { id: randomUUID(), secret: seal(nextSecret), startedAt: at },
          finishedRotationId: undefined,
          disabled: undefined,
          warning: undefined,
          locationIds,
          filter,
        },
        someEntry(),
      );
      return id;
    },
    async edit(id, change) {
      for (;;) {
        const integration = await integrationStore.find(id);
        if (integration === undefined) throw new Error(`no integration ${id}`);
        if ((await integrationStore.replace(change(integration), someEntry())) !== undefined) return;
      }
    },
    integration: (id) => integrationStore.find(id),
    async placeOrder(webhooks, entry = {}) {
      const { order, event } = newOrder(entry);
      await orders.insertOne(order);
      webhooks?.relay.nudge('orders', order._id);
      return event.id;
    },
    async placeOrders(entries) {
      const placed = entries.map(newOrder);
      await orders.insertMany(placed.map(({ order }) => order));
      return placed.map(({ event }) => event.id);
    },
    async removeIntegrations() {
      const { items } = await readList(integrationStore.list(undefined, undefined));
      for (const { id } of items) {
        for (let isGone = false; !isGone;) {
          const found = await integrationStore.find(id);
          isGone = found === undefined || (await integrationStore.remove(found, someEntry()));
        }
      }
    },
    async lane(integrationId) {
      return (await health.find([integrationId])).get(integrationId)?.health;
    },
    async holderOf(eventId) {
      const order = await orders.findOne({ 'outbox.id': eventId });
      if (order === null) throw new Error(`no order holds the event ${eventId}`);
      return order._id;
    },
    waitingEvents: () => orders.countDocuments({ 'outbox.id': { $gt: '' } }),
    delivery: (eventId, integrationId) => deliveries.find(deliveryId({ eventId, integrationId })),
    attempts: (eventId, integrationId) =>
      deliveries.attempts({ id: deliveryId({ eventId, integrationId }), integrationId }),
    async settled(integrationId, count, status = 'delivered') {
      await until(
        () => deliveries.list({ integrationId, status }).total(),
        (total) => (typeof total === 'number' ? total : total.atLeast) >= count,
      );
    },
    stopEngines,
    async close() {
      await stopEngines();
      await database.drop();
    },
  };
}

/** A failed attempt, or one that was answered, as far as settling looks at it. */
export function attemptOf(deliveryId: string, integrationId = ''): StampedAttempt {
  return {
    integrationId,
    deliveryId,
    stamp: 1,
    number: 1,
    at: new Date(),
    milliseconds: 3,
    status: 500,
    error: undefined,
    certificateNames: [],
    requestHeaders: undefined,
    responseHeaders: {},
    response: new Uint8Array(),
    responseCut: false,
  };
}

/** A clock whose wall time a test can change. */
export function settableClock(): Clock & { skew(milliseconds: number): void } {
  let offset = 0;
  return {
    now: () => new Date(Date.now() + offset),
    monotonic: () => systemClock.monotonic(),
    skew(milliseconds) {
      offset += milliseconds;
    },
  };
}
