import { describe, expect, it } from '@jest/globals';
import { dayAfter, fiscalDateAt } from '../../src/orders/catalog/locations/fiscal-calendar.ts';
import { unknownId } from './catalog/catalog-harness.ts';
import { problem, setUp, startAnother } from '../support/per-operation.ts';
import type { Answer } from '../support/service.ts';
import { middayClock, openShop, placeOrder, type Shop } from './orders-harness.ts';

const setup = setUp();
const pathOf = ({ location }: Shop, date: string): string => `/v1/locations/${location.id}/fiscal-days/${date}/close`;
const close = (shop: Shop, date: string): Promise<Answer> => setup.service.call('POST', pathOf(shop, date));

/** A location in the middle of its fiscal day, and the date of that day. */
const open = async (): Promise<{ shop: Shop; today: string }> => {
  const { fiscal_day_end, time_zone } = middayClock(new Date());
  const shop = await openShop(setup.service, { fiscal_day_end, time_zone, currency: 'JPY' });
  return { shop, today: fiscalDateAt(new Date(), { fiscalDayEnd: fiscal_day_end, timeZone: time_zone }) };
};
const dayOf = async (id: string): Promise<unknown> =>
  (await setup.service.call('GET', `/v1/orders/${id}`)).body.fiscal_day;

describe('200', () => {
  it('counts the orders of the day without canceled ones', async () => {
    const { shop, today } = await open();
    const orders = [];
    for (let index = 0; index < 4; index += 1) orders.push(await placeOrder(setup.service, shop));
    await setup.service.call('POST', `/v1/orders/${orders[0]?.id}/cancel`);
    await setup.service.call('POST', `/v1/orders/${orders[1]?.id}/complete`);
    const { status, body, headers } = await close(shop, today);
    expect(status).toBe(200);
    expect(body).toEqual({
      location_id: shop.location.id,
      date: today,
      closed_at: body.closed_at,
      order_count: 3,
      total: 3 * 420,
      tax_lines: [{ rate_ppm: 0, base: 1260, amount: 0 }],
      currency: 'JPY',
      closed_by: 'caller',
    });
    expect(Math.abs(Date.parse(body.closed_at) - Date.now())).toBeLessThan(10_000);
    expect(headers['etag']).toBeDefined();
    expect(await Promise.all(orders.map(({ id }) => dayOf(id)))).toEqual([undefined, today, today, today]);
    const found = await setup.service.call('GET', `/v1/locations/${shop.location.id}/fiscal-days/${today}`);
    expect(found.body).toEqual(body);
    expect(found.headers['etag']).toBe(headers['etag']);
  });

  it.each([
    ['is in the future', 6],
    ['has passed', -6],
  ])('closes the day under way after its end was moved to a time of day that %s', async (_name, hours) => {
    const { shop, today } = await open();
    await placeOrder(setup.service, shop);
    const end = new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
    const moved = await setup.service.call('PUT', `/v1/locations/${shop.location.id}`, {
      body: { fiscal_day_end: end },
    });
    expect(moved.status).toBe(200);
    const { status, body } = await close(shop, today);
    expect([status, body.order_count]).toEqual([200, 1]);
  });

  it('changes the entity tag of each counted order', async () => {
    const { shop, today } = await open();
    const { id, etag } = await placeOrder(setup.service, shop);
    await close(shop, today);
    const { headers, body } = await setup.service.call('GET', `/v1/orders/${id}`);
    expect(headers['etag']).not.toBe(etag);
    const completed = await setup.service.call('POST', `/v1/orders/${id}/complete`, {
      headers: { 'If-Match': headers['etag'] ?? '' },
    });
    const { completed_at, updated_at } = completed.body;
    expect(completed.body).toEqual({ ...body, status: 'completed', completed_at, updated_at });
  });

  it('gives the same answer for a closed day, whatever happened since', async () => {
    const { shop, today } = await open();
    const { id } = await placeOrder(setup.service, shop);
    const first = await close(shop, today);
    await placeOrder(setup.service, shop);
    await setup.service.call('POST', `/v1/orders/${id}/cancel`);
    const second = await close(shop, today);
    expect(second.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expect(second.body.order_count).toBe(1);
  });

  it('closes the day once, for any number of callers and processes', async () => {
    const { shop, today } = await open();
    await placeOrder(setup.service, shop);
    const another = await startAnother(setup.service);
    const services = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? setup.service : another));
    const answers = await Promise.all(services.map((service) => service.call('POST', pathOf(shop, today))));
    await another.close();
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const days = setup.database.db.collection('fiscal_days');
    expect(await days.countDocuments({ location_id: shop.location.id })).toBe(1);
  });
});

describe('400', () => {
  it.each(['today', '2026-02-30', '2026-2-3', '2026-02-03T00:00:00Z'])('refuses the date %s', async (date) => {
    const { shop } = await open();
    const { status, body } = await close(shop, date);
    expect(status).toBe(400);
    expect(body.errors[0]).toMatchObject({ parameter: 'date' });
  });
});

describe('404', () => {
  it('says that the location does not exist', async () => {
    const { status, body } = await setup.service.call(
      'POST',
      `/v1/locations/${unknownId}/fiscal-days/2026-01-01/close`,
    );
    expect(status).toBe(404);
    expect(body.type).toBe(problem('location-not-found'));
  });

  it('says that there is no day before the location existed', async () => {
    const { shop } = await open();
    const { status, body } = await close(shop, '2020-01-01');
    expect(status).toBe(404);
    expect(body.type).toBe(problem('fiscal-day-not-found'));
  });
});

describe('422', () => {
  it.each(['tomorrow', '9999-12-31'])('refuses a day that has not begun: %s', async (day) => {
    const { shop, today } = await open();
    const { status, body } = await close(shop, day === 'tomorrow' ? dayAfter(today) : day);
    expect(status).toBe(422);
    expect(body).toMatchObject({ type: problem('fiscal-day-not-begun'), errors: [{ parameter: 'date' }] });
  });
});
