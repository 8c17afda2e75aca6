import { beforeAll, describe, expect, it } from '@jest/globals';
import { fiscalDateAt } from '../../src/orders/catalog/locations/fiscal-calendar.ts';
import { problem, setUp } from '../support/per-operation.ts';
import type { Created } from './catalog/catalog-harness.ts';
import type { Answer } from '../support/service.ts';
import { middayClock, openShop, placeOrder, type Shop } from './orders-harness.ts';

const setup = setUp();
const list = (query: string): Promise<Answer> => setup.service.call('GET', `/v1/orders${query}`);
/** Closes the fiscal day in progress. */
async function closeDay({ location }: Shop): Promise<Answer> {
  const { fiscal_day_end, time_zone } = location.body as { fiscal_day_end: string; time_zone: string };
  const date = fiscalDateAt(new Date(), { fiscalDayEnd: fiscal_day_end, timeZone: time_zone });
  return setup.service.call('POST', `/v1/locations/${location.id}/fiscal-days/${date}/close`);
}
const idsOf = ({ body }: Answer): string[] => (body.data as { id: string }[]).map(({ id }) => id);

describe('200', () => {
  let shop: Shop;
  let other: Shop;
  let placed: Created[];

  beforeAll(async () => {
    shop = await openShop(setup.service);
    other = await openShop(setup.service);
    placed = [];
    // Two of them have the same millisecond, at the other shop.
    for (const at of [shop, shop, other, shop, other]) placed.push(await placeOrder(setup.service, at));
    const times = ['2026-03-01T10:00:00.000Z', '2026-03-02T00:00:00.000Z', '2026-03-02T23:59:59.999Z'];
    const orders = setup.database.db.collection<{ _id: string }>('orders');
    for (const [index, { id }] of placed.entries()) {
      const created_at = new Date(times[index] ?? '2026-03-03T00:00:00.000Z');
      await orders.updateOne({ _id: id }, { $set: { created_at } });
    }
    await setup.service.call('POST', `/v1/orders/${id(1)}/complete`);
    await setup.service.call('POST', `/v1/orders/${id(2)}/cancel`);
  });
  const id = (index: number): string => placed[index]?.id ?? '';
  const newest = (): string[] => [id(3), id(4)].sort();

  it('shows exactly these members, the newest first, and the same time by id', async () => {
    const answer = await list('');
    expect(idsOf(answer)).toEqual([...newest(), id(2), id(1), id(0)]);
    expect(answer.body.pagination).toEqual({ total: 5, limit: 20, offset: 0, next: null });
    expect(answer.body.data[2]).toEqual({
      id: id(2),
      status: 'canceled',
      total: 420,
      currency: 'EUR',
      created_at: '2026-03-02T23:59:59.999Z',
      updated_at: expect.stringMatching(/Z$/),
      location_id: other.location.id,
    });
  });

  it('filters by reference, combined with all other filters', async () => {
    const reference_id = 'till-1-0001, "x"';
    const ids: string[] = [];
    for (const at of [shop, other]) ids.unshift((await placeOrder(setup.service, at, { reference_id })).id);
    const query = `?reference_id=${encodeURIComponent(reference_id)}`;
    const answer = await list(query);
    expect([...idsOf(answer)].sort()).toEqual([...ids].sort());
    expect(answer.body.pagination.total).toBe(2);
    expect(answer.body.data[0]).toHaveProperty('reference_id', reference_id);
    expect(idsOf(await list(`${query}&location_id=${shop.location.id}&status=open`))).toEqual([ids[1]]);
    expect(idsOf(await list(`${query}&status=completed`))).toEqual([]);
    expect(idsOf(await list('?reference_id=till-9'))).toEqual([]);
    const placed = setup.database.db.collection<{ _id: string }>('orders');
    await placed.deleteMany({ _id: { $in: ids } });
  });

  it.each([
    ['open', () => [...newest(), id(0)]],
    ['completed', () => [id(1)]],
    ['canceled', () => [id(2)]],
  ])('filters by status %s', async (status, expected) => {
    const answer = await list(`?status=${status}`);
    expect(idsOf(answer)).toEqual(expected());
    expect(answer.body.pagination.total).toBe(expected().length);
  });

  it.each([
    // A date means its midnight in UTC. `since` is included, `until` is not.
    ['since=2026-03-02', () => [...newest(), id(2), id(1)]],
    ['since=2026-03-02T00:00:00Z', () => [...newest(), id(2), id(1)]],
    ['since=2026-03-02T00:00:00.001Z', () => [...newest(), id(2)]],
    ['since=2026-03-03T01:00:00%2B01:00', () => newest()],
    ['until=2026-03-02', () => [id(0)]],
    ['until=2026-03-03', () => [id(2), id(1), id(0)]],
    ['since=2026-03-02&until=2026-03-03', () => [id(2), id(1)]],
    // The indexes with other fields first find the boundary too.
    ['status=canceled&since=2026-03-02T23:59:59.999Z', () => [id(2)]],
    ['status=canceled&until=2026-03-02T23:59:59.999Z', () => []],
    // A time without an offset is UTC.
    ['since=2026-03-03T00:00:00', () => newest()],
    // As libraries print ISO 8601; a plain `+` arrives as a space.
    ...[
      ...['2026-03-03T00:00Z', '2026-03-03T00:00', '2026-03-03t00:00:00z', '2026-03-03 00:00:00', '20260303'],
      ...['2026-03-03T01:00:00%2B0100', '2026-03-03T01:00%2B01', '2026-03-02T22:30:00-0130', '2026-03-02T23:00-01'],
      ...[
        '2026-03-03T01:00:00+01:00',
        '2026-03-03+01:00:00+01:00',
        '2026-03-03T01:00:00 01',
        '2026-03-03T00:00:00,000Z',
      ],
      ...[
        '20260303T000000Z',
        '20260303T0000Z',
        '20260303T010000.000%2B0100',
        '20260302T2300-01',
        '20260303t00:00'.replace(':', ''),
      ],
    ].map((text): [string, () => string[]] => [`since=${text}`, () => newest()]),
    ['until=2026-03-02T00:00:00.001', () => [id(1), id(0)]],
    // Digits after the millisecond count, however many there are.
    ['since=2026-03-02T00:00:00.0000001Z', () => [...newest(), id(2)]],
    ['since=2026-03-01T23:59:59.9999999999999999999999Z', () => [...newest(), id(2), id(1)]],
    ['since=2026-03-02T00:00:00.0000000000000000000000Z', () => [...newest(), id(2), id(1)]],
    ['until=2026-03-02T00:00:00.0000001Z', () => [id(1), id(0)]],
    ['until=2026-03-01T23:59:59.9999999999999999999999Z', () => [id(0)]],
    ['until=2026-03-02T00:00:00.0000000000000000000000Z', () => [id(0)]],
    // Converted to UTC, some of these are in year 0 or 10000.
    ['until=0000-01-01T00:00:00-00:00', () => []],
    ['since=0000-01-01', () => [...newest(), id(2), id(1), id(0)]],
    ['since=0001-01-01T00:00:00%2B23:59', () => [...newest(), id(2), id(1), id(0)]],
    ['status=canceled&since=0001-01-01', () => [id(2)]],
    ['until=0001-01-01T00:00:00%2B23:59', () => []],
    ['until=9999-12-31T23:59:59.9999-23:59', () => [...newest(), id(2), id(1), id(0)]],
    ['since=9999-12-31T23:59:59.9999-23:59', () => []],
    ['since=9999-12-31T23:59:59.9999', () => []],
    ['since=2026-03-03&until=2026-03-02', () => []],
    ['since=2026-03-04', () => []],
  ])('filters by time, %s', async (query, expected) => {
    const answer = await list(`?${query}`);
    expect(idsOf(answer)).toEqual(expected());
    expect(answer.body.pagination.total).toBe(expected().length);
  });

  it('filters by location, and by all filters together', async () => {
    expect(idsOf(await list(`?location_id=${other.location.id}`))).toEqual([id(4), id(2)]);
    const all = `?location_id=${shop.location.id}&status=open&since=2026-03-01&until=2026-03-03&limit=1`;
    const answer = await list(all);
    expect(idsOf(answer)).toEqual([id(0)]);
    expect(answer.body.pagination).toEqual({ total: 1, limit: 1, offset: 0, next: null });
  });

  it('keeps the filters on the next page', async () => {
    const first = await list('?status=open&since=2026-03-01T11:00:00%2B02:00&limit=2');
    const next = /^<(.+)>; rel="next"$/.exec(first.headers['link'] ?? '')?.[1] ?? '';
    const second = await setup.service.call('GET', next);
    expect([...idsOf(first), ...idsOf(second)]).toEqual([...newest(), id(0)]);
  });
});

describe('what changed', () => {
  let shop: Shop;
  let query: string;
  const ids: string[] = [];
  const time = (second: number): string => `2026-04-01T10:00:0${second}.000Z`;
  beforeAll(async () => {
    shop = await openShop(setup.service, middayClock(new Date()));
    query = `?location_id=${shop.location.id}`;
    const orders = setup.database.db.collection<{ _id: string }>('orders');
    for (const second of [5, 1, 3, 1]) {
      const { id } = await placeOrder(setup.service, shop, second === 3 ? { spot_id: shop.spot } : {});
      ids.push(id);
      await orders.updateOne(
        { _id: id },
        { $set: { created_at: new Date(time(0)), updated_at: new Date(time(second)) } },
      );
    }
  });
  const id = (index: number): string => ids[index] ?? '';

  it('is the last changed first, from the time on that is given', async () => {
    const sameTime = [id(1), id(3)].sort();
    expect(idsOf(await list(`${query}&updated_since=${time(1)}`))).toEqual([id(0), id(2), ...sameTime]);
    expect(idsOf(await list(`${query}&updated_since=${time(3)}`))).toEqual([id(0), id(2)]);
    expect(idsOf(await list(`${query}&updated_since=2026-04-01T10:00:03.001Z`))).toEqual([id(0)]);
    const all = `${query}&updated_since=2026-04-01&status=open&since=2026-04-01&until=2026-04-02&spot_id=${shop.spot}`;
    expect(idsOf(await list(all))).toEqual([id(2)]);
    expect(idsOf(await list(`${query}&updated_since=2026-04-01&since=2026-04-02`))).toEqual([]);
  });

  it('is completed and canceled orders, but not those that a day counts', async () => {
    const before = new Date().toISOString();
    await setup.service.call('POST', `/v1/orders/${id(1)}/complete`);
    await setup.service.call('POST', `/v1/orders/${id(3)}/cancel`);
    expect(idsOf(await list(`${query}&updated_since=${before}`)).sort()).toEqual([id(1), id(3)].sort());
    const after = new Date(Date.now() + 1).toISOString();
    expect((await closeDay(shop)).body).toMatchObject({ order_count: 3 });
    expect(idsOf(await list(`${query}&updated_since=${after}`))).toEqual([]);
  });

  it('is read by pages without any twice while orders change, and the next reading has those that changed', async () => {
    const other = await openShop(setup.service);
    for (let count = 0; count < 7; count += 1) await placeOrder(setup.service, other);
    const own = `?location_id=${other.location.id}&limit=2`;
    const seen: { id: string; updated_at: string }[] = [];
    const read = async (since: string): Promise<void> => {
      for (let next: string | null = ''; next !== null;) {
        const { body } = await list(`${own}&updated_since=${since}${next === '' ? '' : `&after=${next}`}`);
        seen.push(...(body.data as typeof seen));
        next = body.pagination.next as string | null;
        // Between pages one that was read and one that was not yet change.
        if (seen.length === 2) {
          const all = (await list(`?location_id=${other.location.id}`)).body.data as typeof seen;
          const unread = all.find((order) => !seen.some(({ id: known }) => known === order.id));
          for (const changed of [seen[0]?.id, unread?.id]) {
            expect((await setup.service.call('POST', `/v1/orders/${changed}/complete`)).status).toBe(200);
          }
        }
      }
    };
    await read('2026-01-01');
    expect(new Set(seen.map(({ id: one }) => one)).size).toBe(seen.length);
    expect(seen).toHaveLength(6);
    const latest =
      seen
        .map(({ updated_at }) => updated_at)
        .sort()
        .at(-1) ?? '';
    const again = (await list(`${own}&updated_since=${latest}`)).body.data as ((typeof seen)[number] & {
      status: string;
    })[];
    expect(again.filter(({ status }) => status === 'completed')).toHaveLength(2);
    expect(new Set([...seen, ...again].map(({ id: one }) => one)).size).toBe(7);
  });
});

describe('a fiscal day, and a spot', () => {
  it('have their orders, combined with other filters', async () => {
    const shop = await openShop(setup.service, middayClock(new Date()));
    const counted = await placeOrder(setup.service, shop, { spot_id: shop.spot, reference_id: 'a' });
    const canceled = await placeOrder(setup.service, shop, { spot_id: shop.spot });
    const elsewhere = await placeOrder(setup.service, shop);
    await setup.service.call('POST', `/v1/orders/${canceled.id}/cancel`);
    const { body: day } = await closeDay(shop);
    const date = String(day.date);
    expect(day).toMatchObject({ order_count: 2 });

    const [both, own] = [[counted.id, elsewhere.id].sort(), `location_id=${shop.location.id}`];
    expect(idsOf(await list(`?fiscal_day=${date}&${own}`)).sort()).toEqual(both);
    expect(idsOf(await list(`?fiscal_day=${date}&limit=100`))).toEqual(expect.arrayContaining(both));
    expect(idsOf(await list(`?fiscal_day=${date}&${own}&spot_id=${shop.spot}`))).toEqual([counted.id]);
    expect(idsOf(await list(`?fiscal_day=${date}&status=canceled&${own}`))).toEqual([]);
    expect(idsOf(await list(`?fiscal_day=${date}&reference_id=a&${own}`))).toEqual([counted.id]);
    expect(idsOf(await list(`?fiscal_day=${String(date).replaceAll('-', '')}&${own}`)).sort()).toEqual(both);
    expect(idsOf(await list('?fiscal_day=2019-01-01'))).toEqual([]);
    expect(idsOf(await list(`?spot_id=${shop.spot}`)).sort()).toEqual([canceled.id, counted.id].sort());
    expect(idsOf(await list(`?spot_id=${shop.spot}&status=canceled`))).toEqual([canceled.id]);
    expect(idsOf(await list(`?spot_id=${shop.spot}&reference_id=a`))).toEqual([counted.id]);
    expect(idsOf(await list(`?spot_id=${shop.spot}&location_id=00000000-0000-4000-8000-000000000000`))).toEqual([]);
  });
});

describe('400', () => {
  it.each([
    'status=other',
    'status=',
    'since=yesterday',
    'since=2026-02-30',
    'since=2026-02-30T10:00:00',
    'since=2026-02-30T10:00',
    'since=20260230',
    'since=20260431T100000Z',
    'since=21000229T1000Z',
    'since=2026-03-02T24:00Z',
    'since=2026-03-02T10:60',
    'since=2026-03-02T10:00:60Z',
    'since=2026-03-02T10',
    'since=2026-0302',
    'since=2026-W10-1',
    'since=2026-061',
    'since=2026-03-02Z',
    'since=2026-03-02T10:00:00%2B24:00',
    'since=1772445600',
    'fiscal_day=20260230',
    'since=2026-03-02T10:00:00.Z',
    `since=2026-03-02T10:00:00.${'0'.repeat(50)}Z`,
    'location_id=1',
    'updated_since=yesterday',
    'fiscal_day=2026-02-30',
    'spot_id=4',
  ])('refuses %s', async (query) => {
    const { status, body } = await list(`?${query}`);
    expect(status).toBe(400);
    expect(body.type).toBe(problem('invalid-request'));
  });
});

describe('400 for a date', () => {
  it('shows the accepted forms, as they are written in a URL', async () => {
    const { status, body } = await list('?since=yesterday');
    expect(status).toBe(400);
    const forms = ['2026-11-06 ', '%2B01:00', 'ISO 8601', '20261106T113000Z', '2026-11-06T12:30Z'];
    for (const form of forms) expect(body.errors[0].detail).toContain(form);
  });

  it('has the same forms as other lists, and others than bodies', async () => {
    const time = '20260303T0100%2B0100';
    for (const path of ['deliveries', 'invocations', 'audit-log', 'costs', 'invocations/export', 'deliveries']) {
      expect([path, (await setup.service.call('GET', `/api/v1/${path}?since=${time}&until=20260304`)).status]).toEqual([
        path,
        200,
      ]);
    }
    for (const path of ['products', 'categories'])
      expect((await setup.service.call('GET', `/v1/${path}?updated_since=${time}`)).status).toBe(200);
    const body = { since: '20260303' };
    const answer = await setup.service.call('POST', `/api/v1/integrations/${crypto.randomUUID()}/replays`, { body });
    expect(answer.status).toBe(400);
  });
});
