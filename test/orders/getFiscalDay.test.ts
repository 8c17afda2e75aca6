import { beforeAll, describe, expect, it } from '@jest/globals';
import { fiscalDateAt } from '../../src/orders/catalog/locations/fiscal-calendar.ts';
import { unknownId } from './catalog/catalog-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';
import type { Answer } from '../support/service.ts';
import { middayClock, openShop, placeOrder } from './orders-harness.ts';

const setup = setUp();
let path: string;
let date: string;
let closed: Answer;

beforeAll(async () => {
  const { fiscal_day_end, time_zone } = middayClock(new Date());
  const shop = await openShop(setup.service, { fiscal_day_end, time_zone });
  date = fiscalDateAt(new Date(), { fiscalDayEnd: fiscal_day_end, timeZone: time_zone });
  await placeOrder(setup.service, shop);
  path = `/v1/locations/${shop.location.id}/fiscal-days`;
  closed = await setup.service.call('POST', `${path}/${date}/close`);
});

describe('200', () => {
  it('gives the same answer as closeFiscalDay', async () => {
    const answer = await setup.service.call('GET', `${path}/${date}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(closed.body);
    expect(answer.headers['etag']).toBe(closed.headers['etag']);
  });
});

describe('304', () => {
  it('answers 304 if the caller has it', async () => {
    const headers = { 'If-None-Match': closed.headers['etag'] ?? '' };
    expect((await setup.service.call('GET', `${path}/${date}`, { headers })).status).toBe(304);
  });
});

describe('400', () => {
  it('refuses an invalid date', async () => {
    const { status, body } = await setup.service.call('GET', `${path}/2026-13-01`);
    expect(status).toBe(400);
    expect(body.errors[0]).toMatchObject({ parameter: 'date' });
  });
});

describe('404', () => {
  it('says that the location does not exist', async () => {
    const { status, body } = await setup.service.call('GET', `/v1/locations/${unknownId}/fiscal-days/${date}`);
    expect(status).toBe(404);
    expect(body.type).toBe(problem('location-not-found'));
  });

  it('says that the day is not closed', async () => {
    const { status, body } = await setup.service.call('GET', `${path}/2020-01-01`);
    expect(status).toBe(404);
    expect(body.type).toBe(problem('fiscal-day-not-found'));
  });
});
