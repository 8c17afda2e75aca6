import { describe, expect, it } from '@jest/globals';
import type { FiscalDay } from '../../src/orders/fiscal-days/fiscal-day.ts';
import { createFiscalDayStore } from '../../src/orders/fiscal-days/fiscal-day-store.ts';
import { unknownId } from './catalog/catalog-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';
import { openShop } from './orders-harness.ts';

const setup = setUp();

/** A location with closed days, from 1 March 2026. */
const fill = async (count: number): Promise<{ path: string; ids: readonly string[] }> => {
  const { location } = await openShop(setup.service);
  const dates = Array.from({ length: count }, (_, index) => `2026-03-${String(index + 1).padStart(2, '0')}`);
  const store = createFiscalDayStore(setup.database);
  for (const date of dates) await store.insert(closedDay(location.id, date), [], []);
  return { path: `/v1/locations/${location.id}/fiscal-days`, ids: dates };
};

const closedDay = (locationId: string, date: string): FiscalDay => ({
  locationId,
  date,
  cutAt: new Date(`${date}T22:00:00.000Z`),
  orderCount: 2,
  total: 840,
  taxLines: [{ ratePpm: 0, base: 840, amount: 0 }],
  currency: 'EUR',
  closedBy: 'service',
});

describe('200', () => {
  it('shows the closed days of the location, and no others', async () => {
    await fill(1);
    const { path } = await fill(1);
    const { status, body } = await setup.service.call('GET', path);
    expect(status).toBe(200);
    expect(body.data).toEqual([
      {
        location_id: path.split('/')[3],
        date: '2026-03-01',
        closed_at: '2026-03-01T22:00:00.000Z',
        order_count: 2,
        total: 840,
        tax_lines: [{ rate_ppm: 0, base: 840, amount: 0 }],
        currency: 'EUR',
        closed_by: 'service',
      },
    ]);
  });

  it.each([
    ['call', 'caller'],
    ['clock', 'service'],
  ])('shows the stored cause %s as %s', async (cause, closedBy) => {
    const { path } = await fill(1);
    const days = setup.database.db.collection('fiscal_days');
    await days.updateOne({ location_id: path.split('/')[3] }, { $set: { cause } });
    expect((await setup.service.call('GET', path)).body.data).toMatchObject([{ closed_by: closedBy }]);
  });
});

describe('404', () => {
  it('says that the location does not exist', async () => {
    const { status, body } = await setup.service.call('GET', `/v1/locations/${unknownId}/fiscal-days`);
    expect(status).toBe(404);
    expect(body.type).toBe(problem('location-not-found'));
  });
});
