import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../support/service.ts';
import { describeIdempotency, locationBody, uuidForm } from './catalog-harness.ts';
import { problem, setUp } from '../../support/per-operation.ts';

const setup = setUp();
const path = '/v1/locations';
const post = (body: unknown): Promise<Answer> => setup.service.call('POST', path, { body });

describe('201', () => {
  it('sets defaults for missing fields', async () => {
    const { status, body, headers } = await post(locationBody());
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(uuidForm),
      name: 'Canal Café',
      currency: 'EUR',
      time_zone: 'Europe/Amsterdam',
      fiscal_day_end: '00:00',
      tax_rate_ppm: 0,
      fee_rate_ppm: 0,
      prices_include_tax: false,
      zones: [],
      archived: false,
      created_at: body.created_at,
      updated_at: body.created_at,
    });
    expect(headers['location']).toBe(`${path}/${body.id}`);
    expect((await setup.service.call('GET', `${path}/${body.id}`)).body).toEqual(body);
  });

  it('creates the ids of zones and spots, and keeps ids that the caller sets', async () => {
    const zone = '7c2d9e40-5b1f-4a38-8e67-d90c3f2a1b65';
    const spot = 'a4f01c82-6e3d-4b79-b5d2-0c8e7f964a13';
    const zones = [
      { id: zone, name: 'Terrace', spots: [{ id: spot, name: 'Table 1' }, { name: 'Table 2' }] },
      { name: 'Bar' },
    ];
    const members = { fiscal_day_end: '04:00', tax_rate_ppm: 88_750, fee_rate_ppm: 1 };
    const { body } = await post(locationBody({ zones, ...members }));
    expect(body).toMatchObject(members);
    expect((await setup.service.call('GET', `${path}/${body.id}`)).body).toEqual(body);
    expect(body.zones).toEqual([
      {
        id: zone,
        name: 'Terrace',
        spots: [
          { id: spot, name: 'Table 1' },
          { id: expect.stringMatching(uuidForm), name: 'Table 2' },
        ],
      },
      { id: expect.stringMatching(uuidForm), name: 'Bar', spots: [] },
    ]);
  });
});

describe('400', () => {
  it.each([
    ['#/name', { name: '' }],
    ['#/currency', { currency: 'eur' }],
    ['#/time_zone', { time_zone: '+02:00' }],
    ['#/fiscal_day_end', { fiscal_day_end: '24:00' }],
    ['#/fiscal_day_end', { fiscal_day_end: '4:00' }],
    ['#/tax_rate_ppm', { tax_rate_ppm: 1_000_001 }],
    ['#/tax_rate_ppm', { tax_rate_ppm: 7.5 }],
    ['#/fee_rate_ppm', { fee_rate_ppm: -1 }],
    ['#/zones/0/name', { zones: [{}] }],
    ['#/next_fiscal_day', { next_fiscal_day: '2026-01-01' }],
  ])('names %s of %j', async (pointer, members) => {
    const { status, body } = await post(locationBody(members));
    expect(status).toBe(400);
    expect(body.type).toBe(problem('invalid-request'));
    expect((body.errors as { pointer: string }[]).map((error) => error.pointer)).toContain(pointer);
  });

  it('names zones and spots with repeated ids', async () => {
    const id = '7c2d9e40-5b1f-4a38-8e67-d90c3f2a1b65';
    const spot = { id, name: 'Table' };
    const zones = [
      { id, name: 'One', spots: [spot] },
      { id, name: 'Two', spots: [spot] },
    ];
    const answer = setup.service.call('POST', path, { body: locationBody({ zones }), differs: 'repeated-id' });
    const { status, body } = await answer;
    expect(status).toBe(400);
    const pointers = (body.errors as { pointer: string }[]).map((error) => error.pointer);
    expect(pointers).toEqual(['#/zones/1/id', '#/zones/1/spots/0/id']);
  });
});

describe('422', () => {
  it.each([
    ['unknown-currency', '#/currency', { currency: 'ZZZ' }],
    // A currency that was withdrawn, and one without a minor unit.
    ['unknown-currency', '#/currency', { currency: 'HRK' }],
    ['unknown-currency', '#/currency', { currency: 'XAU' }],
    ['unknown-time-zone', '#/time_zone', { time_zone: 'Europe/Atlantis' }],
    ['unknown-time-zone', '#/time_zone', { time_zone: 'PST' }],
  ])('says %s', async (type, pointer, members) => {
    const { status, body } = await post(locationBody(members));
    expect(status).toBe(422);
    expect(body).toMatchObject({ type: problem(type), errors: [{ pointer }] });
  });

  it('names time zone and currency when both are unknown', async () => {
    const { status, body } = await post(locationBody({ currency: 'ZZZ', time_zone: 'Europe/Atlantis' }));
    expect([status, body.type]).toEqual([422, problem('unknown-time-zone')]);
    expect(body.errors).toEqual([
      { detail: 'is not the name of a time zone', pointer: '#/time_zone' },
      { detail: 'is not an ISO 4217 code of a currency in use', pointer: '#/currency' },
    ]);
  });
});

describe('201 for values in use', () => {
  it.each(['VED', 'XCG', 'ZWG', 'SLE', 'CLF', 'JPY'])('accepts the currency %s', async (currency) => {
    expect((await post(locationBody({ currency }))).status).toBe(201);
  });

  it('writes the time zone as the time zone database does', async () => {
    const { status, body } = await post(locationBody({ time_zone: 'america/port-AU-prince' }));
    expect([status, body.time_zone]).toEqual([201, 'America/Port-au-Prince']);
  });
});

describeIdempotency(setup, () =>
  Promise.resolve({ path, body: locationBody(), other: locationBody({ name: 'Another' }) }),
);
