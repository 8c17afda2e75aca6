import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Binary } from 'mongodb';
import type { PagedDatabase } from '../../../src/storage/db/pages.ts';
import { deliveryId, newDelivery, type NewDelivery } from '../../../src/webhooks/deliveries/delivery.ts';
import type { DeliveryDocument } from '../../../src/webhooks/deliveries/delivery-documents.ts';
import { createDeliveryStore } from '../../../src/webhooks/deliveries/delivery-store.ts';
import { createEventStore, type StoredEvent } from '../../../src/webhooks/events/event-store.ts';
import { percentile } from '../../faults/webhooks/percentile.ts';
import { figuresOf, type Figure, type Scenario, type Target, type World } from '../hostile-world.ts';
import { walk } from './many-lists.ts';
import { openDatabase, uuid } from '../seeding.ts';

const size = 25_000;
const most = { p99: 100 };
const body = Buffer.from(JSON.stringify({ type: 'ORDER_PLACED', data: { itemNames: ['x'.repeat(500)] } }));

/** The action of a scenario on an integration with 25,000 deliveries. @returns additional figures */
type Operation = (place: Place) => Promise<readonly Figure[]>;

interface Place {
  readonly target: Target;
  readonly database: PagedDatabase;
  readonly id: string;
  readonly path: string;
  /** The number of deliveries that the receiver got. */
  readonly received: () => number;
}

/** The list of its deliveries. */
function ofIntegration(id: string): string {
  return `/api/v1/deliveries?integration_id=${id}`;
}

function scenarioOf(operation: string, status: State, perform: Operation): Scenario {
  return {
    name: `deliveries-${operation}`,
    about: `${operation} of an integration with 25,000 ${status} deliveries`,
    async run(world) {
      const receiver = await startSink();
      try {
        const place = await prepare(world, receiver, status);
        // The engine for trying out reads all that a list has when it is read first; others wait as long.
        const started = performance.now();
        for (const list of ['/api/v1/deliveries', ofIntegration(place.id)]) await place.target.call('GET', list);
        const first = { name: 'the first lists', value: performance.now() - started, unit: 'ms', atMost: 5_000 };
        const watching = await world.watch(place.target);
        const more = await perform(place);
        const seen = await watching.stop();
        await place.database.close();
        return [first, ...figuresOf(seen, most), ...more];
      } finally {
        receiver.close();
      }
    },
  };
}

type State = 'pending' | 'delivered' | 'expiring';

/** Milliseconds from the start of the preparation to the first expiry. */
const expiryDelayMs = 60_000;
/** Milliseconds in which all of them expire: as after a replay, faster than a receiver accepts them. */
const expirySpanMs = 50_000;

async function prepare(world: World, receiver: Sink, status: State): Promise<Place> {
  const target = await world.startTarget({ WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' });
  const made = await target.call('POST', '/api/v1/integrations', {
    body: { name: 'Sink', url: receiver.url, event_types: ['ORDER_PLACED'] },
  });
  const { id } = made.body as { id: string };
  const path = `/api/v1/integrations/${id}`;
  // The removal of a deleted integration finds deliveries through the stored condition of its receiver.
  await target.call('POST', `${path}/test`);
  await until(() => receiver.received() > 0, 10);
  if (status === 'pending') await target.call('POST', `${path}/pause`);
  const database = await openDatabase(world, target);
  const deliveries = createDeliveryStore(database);
  const events = createEventStore(database);
  const started = Date.now();
  // As if a relay handed over 100 events per second.
  for (let index = 0; index < size; index += 100) {
    const createdAt = new Date(Date.now() - 3_600_000 + index * 10);
    const inSpan = started + expiryDelayMs + (index / size) * expirySpanMs;
    const later = new Date(status === 'expiring' ? inSpan : Date.now() + 20 * 86_400_000);
    const some = Array.from({ length: 100 }, (_, offset): StoredEvent => ({
      id: uuid(index + offset),
      type: 'ORDER_PLACED',
      targetId: 'order',
      locationId: undefined,
      createdAt,
      body,
      recipients: [id],
    }));
    await events.insertMissing(some, later);
    const added = some.map((event) => ({
      eventId: event.id,
      eventType: event.type,
      integrationId: id,
      targetId: 'order',
      body,
      eventCreatedAt: createdAt,
    }));
    const pending = added.map((each) => newDelivery(each, createdAt));
    if (status === 'pending') await deliveries.insertMissing(pending);
    else await insertDelivered(database, added, createdAt, later);
  }
  return { target, database, id, path, received: receiver.received };
}

/** Settling them batch by batch would take minutes. */
async function insertDelivered(
  database: PagedDatabase,
  added: readonly NewDelivery[],
  createdAt: Date,
  expiresAt: Date,
): Promise<void> {
  const documents = added.map((delivery): DeliveryDocument => {
    const _id = deliveryId(delivery);
    return {
      _id,
      event_id: delivery.eventId,
      event_type: delivery.eventType,
      integration_id: delivery.integrationId,
      target_id: delivery.targetId,
      event_created_at: createdAt,
      created_at: createdAt,
      body: new Binary(delivery.body),
      stamp: 1,
      tries: 1,
      status: 'delivered',
      last_outcome: '2xx',
      failures: 0,
      finished_at: createdAt,
      expires_at: expiresAt,
    };
  });
  await database.db.collection<DeliveryDocument>('deliveries').insertMany(documents, { ordered: false });
}

interface Sink {
  readonly url: string;
  readonly received: () => number;
  close(): void;
}

async function startSink(): Promise<Sink> {
  let received = 0;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      received += 1;
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received: () => received,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Waits until a condition is true, for at most this number of seconds. @returns the seconds that it took */
async function until(isSo: () => boolean | Promise<boolean>, mostSeconds: number): Promise<number> {
  const started = performance.now();
  while (!(await isSo()) && performance.now() - started < mostSeconds * 1_000) await sleep(250);
  return (performance.now() - started) / 1_000;
}

const remove: Operation = async ({ target, path, database, id: integrationId }) => {
  const { status } = await target.call('DELETE', path);
  // They are removed in the order of their time.
  const deliveries = createDeliveryStore(database);
  const last = deliveryId({ eventId: uuid(size - 1), integrationId });
  const seconds = await until(async () => (await deliveries.find(last)) === undefined, 150);
  return [
    { name: 'status', value: status, atLeast: 200, atMost: 299 },
    { name: 'all removed after', value: seconds, unit: 's', atMost: 150 },
  ];
};

const list: Operation = async ({ target, id }) => {
  const times: number[] = [];
  let refused = 0;
  for (const query of ['', '&status=failed', '&event_type=TEST', '&offset=10000', '&limit=100&status=delivered']) {
    const answers = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const started = performance.now();
        const { status } = await target.call('GET', ofIntegration(id) + query);
        times.push(performance.now() - started);
        return status;
      }),
    );
    refused += answers.filter((status) => status !== 200).length;
  }
  return [
    { name: 'lists without an answer', value: refused, atMost: 0 },
    { name: 'the slowest list', value: Math.max(...times), unit: 'ms' },
    ...(await walk(target, ofIntegration(id), size)),
  ];
};

/** Reads the integration, and measures the gauges. */
const look: Operation = async ({ target, path }) => {
  const times: number[] = [];
  let seen = 0;
  for (let round = 0; round < 20; round += 1) {
    const started = performance.now();
    const [one, list] = await Promise.all([
      target.call('GET', path),
      target.call('GET', '/api/v1/integrations?limit=100'),
    ]);
    times.push(performance.now() - started);
    seen = (one.body as { waiting?: { count: number } }).waiting?.count ?? 0;
    if (list.status !== 200) throw new Error(`the list answered ${list.status}`);
  }
  const gauge = /^webhook_deliveries_waiting\{status="paused"\} (\d+)$/m;
  let measured = 0;
  await until(async () => {
    measured = Number(gauge.exec(String((await target.call('GET', '/metrics')).body))?.[1] ?? 0);
    return measured >= seen;
  }, 45);
  return [
    { name: 'waiting, as the integration shows', value: seen, atLeast: size / 2, atMost: size * 1.5 },
    { name: 'waiting, as the gauge shows', value: measured, atLeast: size / 2, atMost: size * 1.5 },
    { name: 'the slowest look', value: Math.max(...times), unit: 'ms' },
  ];
};

const expire: Operation = async ({ database, id: integrationId }) => {
  // They are removed in the order of their time.
  const last = uuid(size - 1);
  const deliveries = createDeliveryStore(database);
  const events = createEventStore(database);
  const isGone = async (): Promise<boolean> =>
    (await deliveries.find(deliveryId({ eventId: last, integrationId }))) === undefined &&
    (await events.find([last])).length === 0;
  return [{ name: 'all removed after', value: await until(isGone, 300), unit: 's', atMost: 300 }];
};

const replay: Operation = async ({ target, path, received }) => {
  const { status } = await target.call('POST', `${path}/replays`, {
    body: { since: new Date(Date.now() - 7_200_000).toISOString() },
  });
  const seconds = await until(() => received() > size, 120);
  return [
    { name: 'status', value: status, atMost: 299 },
    { name: 'replayed in', value: seconds, unit: 's' },
    { name: 'replayed', value: received(), atLeast: 1_000 },
  ];
};

const pause: Operation = async ({ target, path }) => {
  for (let round = 0; round < 5; round += 1) {
    await target.call('POST', `${path}/enable`);
    await sleep(500);
    await target.call('POST', `${path}/pause`);
    await sleep(1_500);
  }
  return [];
};

const enable: Operation = async ({ target, path, received }) => {
  const { status } = await target.call('POST', `${path}/enable`);
  const seconds = await until(() => received() > size, 120);
  return [
    { name: 'status', value: status, atMost: 299 },
    { name: 'sent in', value: seconds, unit: 's' },
    { name: 'sent', value: received(), atLeast: 1_000 },
  ];
};

const dashboards = 20;
const pollMs = 2_000;
const watchedMs = 20_000;
/** What open dashboards show of the deliveries. */
const filters = ['', '&status=failed', '&status=delivered', '&event_type=TEST'];

/** 20 dashboards are open: each reads three lists every 2 seconds, as long as it is visible. */
const dashboard: Operation = async ({ target, database, id }) => {
  const integrations = database.db.collection<{ _id: string }>('integrations');
  const original = await integrations.findOne({ _id: id });
  const copies = Array.from({ length: 999 }, (_, index) => {
    const copyId = uuid(-1 - index);
    return { ...original, _id: copyId, name: `Copy ${index}` };
  });
  await integrations.insertMany(copies, { ordered: false });
  const signIn = { body: { api_key: target.adminKey }, key: null, headers: { origin: target.url } };
  const times: number[] = [];
  let refused = 0;
  const showDashboard = async (index: number): Promise<void> => {
    const session = await target.call('POST', '/api/v1/session', signIn);
    const cookie = session.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const headers = { cookie, referer: `${target.url}/dashboard` };
    const paths = [
      `/api/v1/deliveries?limit=50${filters[index % filters.length] ?? ''}`,
      '/api/v1/integrations?limit=50',
      '/api/v1/statistics',
    ];
    await sleep((index / dashboards) * pollMs);
    for (const end = performance.now() + watchedMs; performance.now() < end;) {
      const next = sleep(pollMs);
      await Promise.all(
        paths.map(async (path) => {
          const started = performance.now();
          const { status } = await target.call('GET', path, { key: null, headers });
          times.push(performance.now() - started);
          if (status !== 200) refused += 1;
        }),
      );
      await next;
    }
  };
  await Promise.all(Array.from({ length: dashboards }, (_, index) => showDashboard(index)));
  return [
    { name: 'reads without an answer', value: refused, atMost: 0 },
    { name: 'reads of the dashboards', value: times.length },
    { name: 'their p99', value: percentile(times, 0.99), unit: 'ms' },
  ];
};

export const scenarios: readonly Scenario[] = [
  scenarioOf('dashboards', 'delivered', dashboard),
  scenarioOf('delete', 'delivered', remove),
  scenarioOf('list', 'delivered', list),
  scenarioOf('look', 'pending', look),
  scenarioOf('expire', 'expiring', expire),
  scenarioOf('replay', 'delivered', replay),
  scenarioOf('pause', 'pending', pause),
  scenarioOf('enable', 'pending', enable),
];
