/**
 * Receivers in a process of their own, integrations, and orders that are announced to those of a location, for the
 * benchmarks with many integrations.
 */
import { fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PagedDatabase } from '../../src/storage/db/pages.ts';
import { outboxIndex, toOutboxDocuments, type WithOutbox } from '../../src/webhooks/events/outbox.ts';
import { serialiseEvent } from '../../src/webhooks/events/serialise.ts';
import { createIntegrationDirectory } from '../../src/webhooks/integrations/directory.ts';
import { createIntegrationStore, integrationIndexes } from '../../src/webhooks/integrations/integration-store.ts';
import { createAddressRule, loopbackNetworks } from '../../src/base/outbound/address-rules.ts';
import { createLookUp } from '../../src/base/outbound/look-up.ts';
import { system } from '../../src/base/runtime/system.ts';
import { createSecretBox } from '../../src/base/secrets/secret-box.ts';
import { createWebhooks, webhookIndexes, type Webhooks } from '../../src/webhooks/webhooks.ts';
import { createIndexes, openDatabase } from '../support/database.ts';
import { silentLog } from '../support/log.ts';
import type { Arrival, CrowdMessage, Reactions } from './webhooks-crowd-receivers.ts';
import { preciseNow } from './webhooks-sink.ts';
import { someEntry } from '../support/author.ts';

const waitMs = 180_000;

function startReceivers() {
  const child = fork(path.join(import.meta.dirname, 'webhooks-crowd-receivers.ts'));
  let received = 0;
  let arrivals = Promise.withResolvers<readonly Arrival[]>();
  const ports = Promise.withResolvers<readonly number[]>();
  child.on('message', (message: CrowdMessage) => {
    if ('ports' in message) ports.resolve(message.ports);
    else if ('received' in message) received = message.received;
    else arrivals.resolve(message.arrivals);
  });
  return {
    ports: ports.promise,
    react(reactions: Partial<Reactions>) {
      received = 0;
      child.send({ failOnce: 0, hang: 0, ...reactions });
    },
    /** Waits for a number of answered requests. @returns all requests since the last call, or the last reaction */
    async until(count: number) {
      for (const end = performance.now() + waitMs; received < count && performance.now() < end;) await sleep(20);
      arrivals = Promise.withResolvers();
      child.send('report');
      return await arrivals.promise;
    },
    close: () => {
      child.disconnect();
    },
  };
}

export interface Crowd {
  readonly database: PagedDatabase;
  readonly receivers: ReturnType<typeof startReceivers>;
  /** The engine of this process. It is not started. */
  readonly webhooks: Webhooks;
  /** Another engine. */
  engineOn(database: PagedDatabase): Webhooks;
  /** Adds an integration with a receiver of its own, for the events of some locations. @returns its id */
  add(index: number, locationIds: readonly string[], status?: 'active' | 'paused'): Promise<string>;
  /** Places orders at a location. @returns when */
  place(locationId: string, count?: number): Promise<number>;
  close(): Promise<void>;
}

/** Opens a database of its own. */
export async function openCrowd(databaseUri: string, databaseName: string): Promise<Crowd> {
  const receivers = startReceivers();
  const database = await openDatabase(databaseUri, databaseName);
  const orders = database.db.collection<WithOutbox & { _id: string }>('orders');
  await createIndexes(database, [
    ...webhookIndexes,
    integrationIndexes,
    { collection: 'orders', indexes: [{ ...outboxIndex }] },
  ]);
  const store = createIntegrationStore(database);
  const ports = await receivers.ports;
  const engineOn = (on: PagedDatabase): Webhooks =>
    createWebhooks({
      ...system,
      database: on,
      integrations: createIntegrationDirectory(createIntegrationStore(on), createSecretBox(randomBytes(32))),
      serialise: serialiseEvent,
      mayConnect: createAddressRule(loopbackNetworks),
      lookUp: createLookUp(),
      version: '1.0.0',
      log: { ...silentLog, error: () => undefined },
    });
  const webhooks = engineOn(database);
  return {
    database,
    receivers,
    webhooks,
    engineOn,
    async add(index, locationIds, status = 'active') {
      const [id, at] = [randomUUID(), new Date()];
      await store.insert(
        {
          id,
          name: 'Receiver',
          url: `http://127.0.0.1:${ports[index % ports.length]}/${index}`,
          eventTypes: ['ORDER_PLACED'],
          status,
          createdAt: at,
          updatedAt: at,
          headers: [],
          secret: undefined,
          rotation: undefined,
          finishedRotationId: undefined,
          disabled: undefined,
          warning: undefined,
          locationIds: [...locationIds],
          filter: undefined,
        },
        someEntry(),
      );
      return id;
    },
    async place(locationId, count = 1) {
      const placed = Array.from({ length: count }, () => {
        const id = randomUUID();
        const data = { itemNames: ['Flat white'], itemTags: ['hot'], total: 420, currency: 'EUR' };
        const event = { id: randomUUID(), type: 'ORDER_PLACED', targetId: id, data } as const;
        return { id, events: [{ ...event, locationId, createdAt: new Date(), traceparent: undefined }] };
      });
      await orders.insertMany(placed.map(({ id, events }) => ({ _id: id, outbox: toOutboxDocuments(events) })));
      const at = preciseNow();
      for (const { id, events } of placed) webhooks.relay.nudge('orders', id, events);
      return at;
    },
    async close() {
      await webhooks.stop(0);
      // The server is removed with its files.
      await database.close();
      receivers.close();
    },
  };
}
