import { beforeAll, describe, expect, it } from '@jest/globals';
import { problem, setUp } from '../support/per-operation.ts';
import type { Created } from './catalog/catalog-harness.ts';
import type { Answer } from '../support/service.ts';
import { openShop, placeOrder, type Shop } from './orders-harness.ts';

const setup = setUp();
const list = (query: string): Promise<Answer> => setup.service.call('GET', `/v1/orders${query}`);
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

describe('400', () => {
  it.each([
    'status=other',
    'status=',
    'since=yesterday',
    'since=2026-02-30',
    'since=2026-02-30T10:00:00',
    'since=2026-03-02T10:00',
    'since=2026-03-02T10:00:00.Z',
    `since=2026-03-02T10:00:00.${'0'.repeat(50)}Z`,
    'location_id=1',
  ])('refuses %s', async (query) => {
    const { status, body } = await list(`?${query}`);
    expect(status).toBe(400);
    expect(body.type).toBe(problem('invalid-request'));
  });
});

describe('400 for the + of an offset', () => {
  it('shows how to write it in a URL', async () => {
    const { status, body } = await list('?since=2026-03-03T01:00:00+01:00');
    expect(status).toBe(400);
    expect(body.errors).toEqual([{ detail: expect.stringContaining('%2B'), parameter: 'since' }]);
  });
});
