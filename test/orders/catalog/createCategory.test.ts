import { describe, expect, it } from '@jest/globals';
import { createLocation, describeIdempotency, unknownId } from './catalog-harness.ts';
import { problem, setUp } from '../../support/per-operation.ts';

const setup = setUp();
const path = '/v1/categories';
const bodyOf = async (): Promise<Record<string, unknown>> => ({
  location_id: (await createLocation(setup.service)).id,
  name: 'Hot drinks',
});

describe('201', () => {
  it('answers with the category, whose id is not a UUID', async () => {
    const sent = await bodyOf();
    const { status, body, headers } = await setup.service.call('POST', path, { body: sent });
    expect(status).toBe(201);
    expect(body).toEqual({
      ...sent,
      id: expect.stringMatching(/^cat_[0-9a-f]{32}$/),
      archived: false,
      created_at: body.created_at,
      updated_at: body.created_at,
    });
    expect(headers['location']).toBe(`${path}/${body.id}`);
    expect((await setup.service.call('GET', `${path}/${body.id}`)).body).toEqual(body);
  });
});

describe('400', () => {
  it.each([
    ['#/name', { name: '' }],
    ['#/location_id', { location_id: 'here' }],
    ['#/id', { id: 'cat_0' }],
  ])('names %s of %j', async (pointer, members) => {
    const { status, body } = await setup.service.call('POST', path, { body: { ...(await bodyOf()), ...members } });
    expect(status).toBe(400);
    expect((body.errors as { pointer: string }[]).map((error) => error.pointer)).toContain(pointer);
  });
});

describe('422', () => {
  it('names a location that does not exist', async () => {
    const sent = { location_id: unknownId, name: 'Nowhere' };
    const { status, body } = await setup.service.call('POST', path, { body: sent });
    expect(status).toBe(422);
    expect(body).toMatchObject({ type: problem('unknown-location'), errors: [{ pointer: '#/location_id' }] });
  });
});

describeIdempotency(setup, async () => {
  const body = await bodyOf();
  return { path, body, other: { ...body, name: 'Cold drinks' } };
});
