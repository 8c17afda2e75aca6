import { describe, expect, it } from '@jest/globals';
import type { Answer, CallOptions } from '../../support/service.ts';
import { createCatalog, createLocation, createProduct, unknownId, uuidForm } from './catalog-harness.ts';
import { problem, setUp } from '../../support/per-operation.ts';

const setup = setUp();
const put = (id: string, body: unknown, options: CallOptions = {}): Promise<Answer> =>
  setup.service.call('PUT', `/v1/locations/${id}`, { ...options, body });

describe('200', () => {
  it.each([
    [{ name: 'Other name' }],
    [{ time_zone: 'America/New_York' }],
    [{ fiscal_day_end: '05:00' }],
    [{ tax_rate_ppm: 190_000 }],
    [{ fee_rate_ppm: 10_000 }],
    [{ name: 'All', time_zone: 'UTC', fiscal_day_end: '23:59', tax_rate_ppm: 1, fee_rate_ppm: 2 }],
  ])('changes %j and leaves the rest', async (change) => {
    const { id, etag, body: before } = await createLocation(setup.service);
    const { status, body, headers } = await put(id, change);
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, ...change, updated_at: body.updated_at });
    expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
    expect(headers['etag']).not.toBe(etag);
    expect((await setup.service.call('GET', `/v1/locations/${id}`)).body).toEqual(body);
  });

  it('changes nothing when the answer of getLocation is sent back', async () => {
    const zones = [{ name: 'Terrace', spots: [{ name: 'Table 1' }] }];
    const { id, etag, body } = await createLocation(setup.service, { zones });
    const again = await put(id, body);
    expect(again.status).toBe(200);
    expect(again.body).toEqual(body);
    expect(again.headers['etag']).toBe(etag);
  });

  it('replaces all zones; a zone that is sent with its id stays the same', async () => {
    const zones = [{ name: 'Terrace', spots: [{ name: 'Table 1' }, { name: 'Table 2' }] }, { name: 'Bar' }];
    const { id, body: before } = await createLocation(setup.service, { zones });
    const [terrace] = before.zones;
    const kept = { ...terrace, name: 'Roof terrace', spots: [terrace.spots[1], { name: 'Table 3' }] };
    const { body } = await put(id, { zones: [kept] });
    expect(body.zones).toEqual([
      { ...kept, spots: [terrace.spots[1], { id: expect.stringMatching(uuidForm), name: 'Table 3' }] },
    ]);
  });

  it('changes a location that If-Match matches', async () => {
    const { id, etag } = await createLocation(setup.service);
    expect((await put(id, { name: 'Other' }, { headers: { 'If-Match': etag } })).status).toBe(200);
  });

  it('applies each of many simultaneous changes', async () => {
    const { id } = await createLocation(setup.service);
    const changes = [{ name: 'Other' }, { tax_rate_ppm: 70_000 }, { fee_rate_ppm: 7_000 }, { fiscal_day_end: '03:00' }];
    const answers = await Promise.all(changes.map((change) => put(id, change)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { body } = await setup.service.call('GET', `/v1/locations/${id}`);
    expect(body).toMatchObject(Object.assign({}, ...changes) as object);
  });
});

describe('400', () => {
  it.each([
    ['#/name', { name: null }],
    ['#/fiscal_day_end', { fiscal_day_end: '25:00' }],
    ['#/zones', { zones: null }],
    ['#/colour', { colour: 'red' }],
  ])('names %s', async (pointer, change) => {
    const { id } = await createLocation(setup.service);
    const { status, body } = await put(id, change);
    expect(status).toBe(400);
    expect((body.errors as { pointer: string }[]).map((error) => error.pointer)).toContain(pointer);
  });
});

describe('404', () => {
  it('says that the location does not exist', async () => {
    const { status, body } = await put(unknownId, { name: 'Other' });
    expect(status).toBe(404);
    expect(body.type).toBe(problem('location-not-found'));
  });
});

describe('412', () => {
  it('does not change a location that is newer than If-Match', async () => {
    const { id, etag } = await createLocation(setup.service);
    await put(id, { name: 'Second' });
    const { status, body } = await put(id, { name: 'Third' }, { headers: { 'If-Match': etag } });
    expect(status).toBe(412);
    expect(body.type).toBe(problem('precondition-failed'));
    expect((await setup.service.call('GET', `/v1/locations/${id}`)).body.name).toBe('Second');
  });
});

describe('422', () => {
  it.each([
    ['read-only-field', '#/currency', { currency: 'USD' }],
    ['unknown-time-zone', '#/time_zone', { time_zone: 'Moon/Tranquility' }],
  ])('says %s', async (type, pointer, change) => {
    const { id } = await createLocation(setup.service);
    const { status, body } = await put(id, change);
    expect(status).toBe(422);
    expect(body).toMatchObject({ type: problem(type), errors: [{ pointer }] });
  });
});

describe('values that were valid earlier', () => {
  it('a location with a withdrawn currency and a removed time zone keeps working', async () => {
    const { location, category } = await createCatalog(setup.service);
    const locations = setup.database.db.collection<{ _id: string }>('locations');
    const old = { currency: 'HRK', time_zone: 'SystemV/PST8PDT' };
    const stored = { currency: old.currency, timezone: old.time_zone };
    await locations.updateOne({ _id: location.id }, { $set: stored });
    const { status, body } = await put(location.id, { ...old, name: 'Kavana' });
    expect([status, body]).toMatchObject([200, { ...old, name: 'Kavana' }]);
    const product = await createProduct(setup.service, category);
    expect(product.body.currency).toBe('HRK');
    const items = [{ product_id: product.id, quantity: 1 }];
    const order = await setup.service.call('POST', '/v1/orders', { body: { location_id: location.id, items } });
    expect([order.status, order.body.currency]).toEqual([201, 'HRK']);
  });

  it('the time zone is written as the time zone database does', async () => {
    const { id, etag } = await createLocation(setup.service, { time_zone: 'Europe/Amsterdam' });
    expect((await put(id, { time_zone: 'EUROPE/AMSTERDAM' })).headers['etag']).toBe(etag);
    expect((await put(id, { time_zone: 'asia/kolkata' })).body.time_zone).toBe('Asia/Kolkata');
  });
});
