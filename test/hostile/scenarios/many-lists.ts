import type { OrderDocument } from '../../../src/orders/order-store.ts';
import { createDeliveryStore } from '../../../src/webhooks/deliveries/delivery-store.ts';
import { median } from '../../bench/statistics.ts';
import { openDatabase, uuid } from '../seeding.ts';
import { figuresOf, type Figure, type Scenario, type Target } from '../hostile-world.ts';

const callers = 100;

/** A hundred callers request a list at the same time. */
async function listAtOnce(target: Target, path: (caller: number) => string): Promise<Figure[]> {
  const times: number[] = [];
  const statuses = await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      const started = performance.now();
      const { status } = await target.call('GET', path(caller));
      times.push(performance.now() - started);
      return status;
    }),
  );
  return [
    { name: 'lists that were refused', value: statuses.filter((status) => status !== 200).length, atMost: 0 },
    { name: 'the slowest list', value: Math.max(...times), unit: 'ms' },
  ];
}

/** Copies a document `size` times under new ids. */
async function multiply(
  database: Awaited<ReturnType<typeof openDatabase>>,
  collection: string,
  size: number,
  change: (index: number) => Record<string, unknown>,
  { atOnce = 500, idOf = (_id: string): string => _id } = {},
): Promise<void> {
  const documents = database.db.collection<{ _id: string }>(collection);
  const original = await documents.findOne({}, { sort: { created_at: -1, _id: 1 } });
  if (original === null) throw new Error(`nothing in ${collection}`);
  const { sample: _, ...rest } = original as Record<string, unknown>;
  for (let index = 0; index < size; index += atOnce) {
    const copies = Array.from({ length: Math.min(atOnce, size - index) }, (_each, offset) => {
      const id = uuid(index + offset);
      return { ...rest, _id: idOf(id), ...change(index + offset) };
    });
    await documents.insertMany(copies, { ordered: false });
  }
}

/** Reads a list to its end with `after`, and compares the time of its first pages with that of its last pages. */
export async function walk(target: Target, path: string, size: number): Promise<Figure[]> {
  const times: number[] = [];
  const seen = new Set<string>();
  for (let after = ''; ;) {
    const started = performance.now();
    const { body } = await target.call('GET', `${path}${path.includes('?') ? '&' : '?'}limit=100${after}`);
    times.push(performance.now() - started);
    for (const { id } of body.data as { id: string }[]) seen.add(id);
    if (body.pagination.next === null) break;
    after = `&after=${body.pagination.next as string}`;
  }
  const quarter = Math.floor(times.length / 4);
  const [first, last] = [median(times.slice(0, quarter)), median(times.slice(-quarter))];
  return [
    { name: 'entries seen on a walk', value: seen.size, atLeast: size },
    { name: 'a page in the first quarter', value: first, unit: 'ms' },
    { name: 'a page in the last quarter', value: last, unit: 'ms', atMost: first * 1.2 },
    { name: 'the walk', value: times.reduce((sum, time) => sum + time, 0) / 1_000, unit: 's' },
  ];
}

const orders: Scenario = {
  name: 'lists-of-orders',
  about: '100 callers at the same time list one of 23,000 orders each, then a page each',
  async run(world) {
    const target = await world.startTarget();
    const location = await target.call('POST', '/v1/locations', {
      body: { name: 'Bar', currency: 'EUR', time_zone: 'Europe/Berlin', fiscal_day_end: '04:00' },
    });
    const locationId = (location.body as { id: string }).id;
    const category = await target.call('POST', '/v1/categories', {
      body: { name: 'Drinks', location_id: locationId },
    });
    const product = await target.call('POST', '/v1/products', {
      body: {
        name: 'Coffee',
        location_id: locationId,
        price: 250,
        category_id: (category.body as { id: string }).id,
      },
    });
    await target.call('POST', '/v1/orders', {
      body: { location_id: locationId, items: [{ product_id: (product.body as { id: string }).id, quantity: 1 }] },
    });
    const database = await openDatabase(world, target);
    const start = Date.now() - 86_400_000;
    await multiply(database, 'orders', 23_000, (index): Partial<OrderDocument> => ({
      created_at: new Date(start + index * 1_000),
      outbox: [],
    }));
    const watching = await world.watch(target);
    const figures = [
      ...(await listAtOnce(target, () => '/v1/orders?limit=1')),
      ...(await listAtOnce(target, (caller) => `/v1/orders?limit=20&offset=${caller * 20}`)),
    ];
    figures.push(...(await walk(target, '/v1/orders', 23_000)));
    const seen = await watching.stop();
    await database.close();
    return [...figuresOf(seen, { p99: 100, serviceMebibytes: 500, databaseMebibytes: 700 }), ...figures];
  },
};

const prompts: Scenario = {
  name: 'lists-of-large-prompts',
  about: '100 callers list 1,000 prompts of 100 KB each at the same time, page by page, and 10 of them as a whole',
  async run(world) {
    const target = await world.startTarget();
    await target.call('POST', '/api/v1/prompts', {
      body: { name: 'Large', messages: [{ role: 'user', content: 'word '.repeat(20_000) }] },
    });
    const database = await openDatabase(world, target);
    const start = Date.now() - 86_400_000;
    const atOnce = 50;
    await multiply(
      database,
      'prompts',
      1_000,
      (index) => ({ slug: `large-${index}`, updated_at: new Date(start + index * 1_000) }),
      { atOnce },
    );
    const watching = await world.watch(target);
    const figures = await listAtOnce(target, () => '/api/v1/prompts?limit=1000');
    const wholes = await Promise.all(Array.from({ length: 10 }, () => target.call('GET', '/api/v1/prompts')));
    // That of the watching caller, too.
    const least = Math.min(...wholes.map(({ body }) => (body as { data: unknown[] }).data.length));
    figures.push({ name: 'prompts of a whole list', value: least, atLeast: 1_002 });
    const seen = await watching.stop();
    await database.close();
    return [...figuresOf(seen, { serviceMebibytes: 1_000, databaseMebibytes: 1_500 }), ...figures];
  },
};

const everything: Scenario = {
  name: 'lists-of-everything',
  about: '10 callers at a time list and page through 1,000 of each other resource',
  async run(world) {
    const target = await world.startTarget({ WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' });
    const create = async (path: string, body: unknown): Promise<string> =>
      ((await target.call('POST', path, { body })).body as { id: string }).id;
    const location = { name: 'Bar', currency: 'EUR', time_zone: 'Europe/Berlin' };
    const location_id = await create('/v1/locations', location);
    const category_id = await create('/v1/categories', { name: 'Drinks', location_id });
    await create('/v1/products', { name: 'Coffee', location_id, category_id, price: 250 });
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    await target.call('POST', `/v1/locations/${location_id}/fiscal-days/${yesterday}/close`);
    const today = new Date().toISOString().slice(0, 10);
    await target.call('POST', `/v1/locations/${location_id}/fiscal-days/${today}/close`);
    const integration = { name: 'Nobody', url: 'http://127.0.0.1:9/', event_types: ['ORDER_PLACED'] };
    const integrationId = await create('/api/v1/integrations', integration);
    await create('/api/v1/api-keys', { name: 'One of many', scopes: ['orders:read'] });
    const delivery = await create(`/api/v1/integrations/${integrationId}/test`, undefined);
    const attempts = `/api/v1/deliveries/${delivery}/attempts`;
    await target.call('POST', `/api/v1/integrations/${integrationId}/pause`);

    const database = await openDatabase(world, target);
    const start = Date.now() - 4 * 365 * 86_400_000;
    const at = (index: number): Date => new Date(start + index * 86_400_000);
    const created = (index: number) => ({ created_at: at(index) });
    const size = 1_000;
    for (const name of ['products', 'locations', 'api_keys', 'integrations'])
      await multiply(database, name, size, created);
    await multiply(database, 'categories', size, created, { idOf: (id) => `cat_${id.replaceAll('-', '')}` });
    await multiply(database, 'fiscal_days', size, (index) => {
      const date = at(index).toISOString().slice(0, 10);
      const counted = Buffer.alloc(16 * 300);
      return { _id: `${location_id}:${date}`, date, cut_at: at(index), counted };
    });
    // Ten events each. One of their deliveries is listed.
    const deliveries = [delivery, ...Array.from({ length: 99 }, (_, index) => uuid(index))];
    await createDeliveryStore(database).recordAttempts(
      deliveries.flatMap((deliveryId) =>
        Array.from({ length: 10 }, (_, index) => ({
          integrationId,
          deliveryId,
          stamp: index + 1_000,
          number: index + 1,
          at: at(index),
          milliseconds: 3,
          status: 500,
          error: undefined,
          certificateNames: [],
          requestHeaders: undefined,
          responseHeaders: {},
          response: new Uint8Array(16 * 1024),
          responseCut: true,
        })),
      ),
      new Date(Date.now() + 86_400_000),
    );

    const watching = await world.watch(target);
    const figures: Figure[] = [];
    const lists = ['/v1/products', '/v1/categories', '/v1/locations', '/api/v1/integrations', '/api/v1/api-keys'];
    for (const path of [...lists, `/v1/locations/${location_id}/fiscal-days`, attempts]) {
      const started = performance.now();
      const ends = await Promise.all(
        Array.from({ length: 10 }, async () => {
          for (let after = '', count = 0; ;) {
            const { status, body } = await target.call(
              'GET',
              `${path}${path.includes('?') ? '&' : '?'}limit=100${after}`,
            );
            if (status !== 200) return -1;
            count += (body.data as unknown[]).length;
            if (body.pagination.next === null) return count;
            after = `&after=${body.pagination.next as string}`;
          }
        }),
      );
      const seconds = (performance.now() - started) / 1_000;
      const name = path.split('/').at(-1) ?? '';
      figures.push(
        { name: `${name} on each walk`, value: Math.min(...ends), atLeast: path === attempts ? 10 : size },
        { name: `10 walks of ${name}`, value: seconds, unit: 's' },
      );
    }
    const seen = await watching.stop();
    await database.close();
    return [...figuresOf(seen, { p99: 100, serviceMebibytes: 500, databaseMebibytes: 700 }), ...figures];
  },
};

export const scenarios: readonly Scenario[] = [orders, prompts, everything];
