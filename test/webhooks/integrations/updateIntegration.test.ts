import { describe, expect, it } from '@jest/globals';
import { createLocation, unknownId } from '../../orders/catalog/catalog-harness.ts';
import { problem } from '../../support/per-operation.ts';
import { startReceiver } from '../../support/receiver.ts';
import type { Answer, CallOptions } from '../../support/service.ts';
import {
  createIntegration,
  describeMissing,
  mask,
  nextSecret,
  secret,
  sendTest,
  setUpIntegrations,
} from './integrations-harness.ts';

const setup = setUpIntegrations();
const put = (path: string, body: unknown, options: CallOptions = {}): Promise<Answer> =>
  setup.service.call('PUT', path, { ...options, body });

describe('200', () => {
  it.each([
    { name: 'Bar display' },
    { url: 'https://bar.example.com/' },
    { event_types: ['PRODUCT_UPDATED'] },
    { headers: { 'X-Bar': 'roof' } },
  ])('changes only what is sent: %j', async (change) => {
    const { path, body, etag } = await createIntegration(setup.service, { headers: { 'X-Kitchen': 'ground' }, secret });
    const { status, body: changed, headers } = await put(path, change);
    expect(status).toBe(200);
    expect(changed).toEqual({ ...body, ...change, updated_at: changed.updated_at });
    expect(Date.parse(changed.updated_at)).toBeGreaterThan(Date.parse(body.updated_at));
    expect(headers['etag']).not.toBe(etag);
    expect((await setup.service.call('GET', path)).body).toEqual(changed);
  });

  it('changes the locations, and removes the limit with an empty list', async () => {
    const location = await createLocation(setup.service);
    const { path, body } = await createIntegration(setup.service);
    const limited = await put(path, { location_ids: [location.id] });
    expect(limited.body).toEqual({ ...body, location_ids: [location.id], updated_at: limited.body.updated_at });
    expect((await put(path, limited.body)).body).toEqual(limited.body);
    const unlimited = await put(path, { location_ids: [] });
    expect(unlimited.body).toEqual({ ...body, updated_at: unlimited.body.updated_at });
  });

  it('changes the filter, and removes it with an empty one', async () => {
    const { path, body } = await createIntegration(setup.service);
    const filter = { 'data.total': { $gte: 10_000, $lte: 20_000 } };
    const limited = await put(path, { filter });
    expect(limited.body).toEqual({ ...body, filter, updated_at: limited.body.updated_at });
    const back = await put(path, limited.body);
    expect([back.body, back.headers['etag']]).toEqual([limited.body, limited.headers['etag']]);
    const unlimited = await put(path, { filter: {} });
    expect(unlimited.body).toEqual({ ...body, updated_at: unlimited.body.updated_at });
  });

  it('changes nothing when the answer of getIntegration is sent back', async () => {
    const { path } = await createIntegration(setup.service, {
      filter: { 'data.total': { $gte: 10_000 } },
      headers: { 'X-Kitchen': 'ground-floor', Authorization: 'Bearer EXAMPLE' },
      secret,
    });
    await setup.service.call('POST', `${path}/secret/rotation`, { body: { secret: nextSecret } });
    const got = await setup.service.call('GET', path);
    const { status, body, headers } = await put(path, got.body);
    expect(status).toBe(200);
    expect(body).toEqual(got.body);
    expect(headers['etag']).toBe(got.headers['etag']);
  });

  it('keeps the stored value of a header that is sent masked, with its name in any case', async () => {
    const receiver = await startReceiver();
    const headers = { Authorization: 'Bearer EXAMPLE', 'X-Api-Key': 'EXAMPLE-1', 'X-Kitchen': 'ground' };
    const integration = await createIntegration(setup.service, { url: receiver.url, headers });
    const { body } = await put(integration.path, {
      headers: { authorization: mask, 'X-Api-Key': 'EXAMPLE-2', 'X-Kitchen': mask },
    });
    expect(body.headers).toEqual({ authorization: mask, 'X-Api-Key': mask, 'X-Kitchen': 'ground' });
    await sendTest(setup.service, integration);
    const [request] = await receiver.received(1);
    await receiver.close();
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer EXAMPLE',
      'x-api-key': 'EXAMPLE-2',
      'x-kitchen': 'ground',
    });
  });

  it('keeps the stored values of a URL that is sent back masked', async () => {
    const receiver = await startReceiver();
    const query = '?shop=4&access_token=s3cret%2B1&token=first&token=second&sig=EXAMPLE';
    const integration = await createIntegration(setup.service, { url: `${receiver.url}${query}` });
    const masked = `?shop=4&access_token=${mask}&token=${mask}&token=${mask}&sig=${mask}`;
    expect(integration.body.url).toBe(receiver.url + masked);
    const got = await setup.service.call('GET', integration.path);
    const same = await put(integration.path, got.body);
    expect(same.headers['etag']).toBe(got.headers['etag']);
    expect(same.body).toEqual(got.body);

    const url = `${receiver.url}?shop=5&token=${mask}&token=third&access_token=%2A%2A******`;
    const { body } = await put(integration.path, { url });
    expect(body.url).toBe(`${receiver.url}?shop=5&token=${mask}&token=${mask}&access_token=${mask}`);
    await sendTest(setup.service, integration);
    const [request] = await receiver.received(1);
    await receiver.close();
    expect(request?.path).toBe('/hook?shop=5&token=first&token=third&access_token=s3cret%2B1');
  });

  it('accepts any value of the fields that describe the receiver, because they change all the time', async () => {
    const { path, body } = await createIntegration(setup.service);
    const retrying = { retrying_until: '2026-11-06T12:00:00Z', waiting: { count: 3 } };
    const { body: changed } = await put(path, {
      consecutive_failures: 7,
      last_error: { status_code: 500 },
      ...retrying,
    });
    expect(changed).toEqual(body);
  });

  it('applies each of many simultaneous changes', async () => {
    const { path } = await createIntegration(setup.service);
    const names = Array.from({ length: 20 }, (_, index) => `Display ${index}`);
    const answers = await Promise.all(names.map((name) => put(path, { name })));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    expect(new Set(answers.map(({ headers }) => headers['etag'])).size).toBe(names.length);
  });
});

describe('400', () => {
  it.each([
    ['#/name', { name: null }],
    ['#/event_types', { event_types: [] }],
    ['#/event_types/0', { event_types: ['TEST'] }],
    ['#/secret', { secret }],
    ['#/headers/X-Kitchen', { headers: { 'X-Kitchen': 'a\nb' } }],
  ])('names %s', async (pointer, change) => {
    const { path } = await createIntegration(setup.service);
    const { status, body } = await put(path, change);
    expect(status).toBe(400);
    expect((body.errors as { pointer: string }[]).map((error) => error.pointer)).toContain(pointer);
  });
});

describe('412', () => {
  it('does not change an integration that is newer than If-Match', async () => {
    const { path, etag } = await createIntegration(setup.service);
    const second = await put(path, { name: 'Second' }, { headers: { 'If-Match': etag } });
    expect(second.status).toBe(200);
    const third = await put(path, { name: 'Third' }, { headers: { 'If-Match': etag } });
    expect(third.status).toBe(412);
    expect(third.body.type).toBe(problem('precondition-failed'));
    expect((await setup.service.call('GET', path)).body.name).toBe('Second');
  });

  it('ignores failures that were counted in between', async () => {
    const { path, etag } = await createIntegration(setup.service);
    const counted = etag.replace(/0"$/, '3"');
    expect(counted).not.toBe(etag);
    expect((await put(path, { name: 'Second' }, { headers: { 'If-Match': counted } })).status).toBe(200);
  });
});

describe('422', () => {
  it('names the operator of a filter that can match no event; a stored one stays', async () => {
    const { path, body } = await createIntegration(setup.service, { filter: { 'data.total': { $gte: 5 } } });
    const filter = { 'data.total': { $gte: 5, $lte: 4 } };
    const refused = await put(path, { filter });
    expect([refused.status, refused.body.type]).toEqual([422, problem('filter-not-applicable')]);
    expect(refused.body.errors).toEqual([
      { detail: 'data.total has a $gte that $lte excludes', pointer: '#/filter/data.total/$gte' },
    ]);
    // An earlier release has accepted it.
    const integrations = setup.database.db.collection<{ _id: string }>('integrations');
    await integrations.updateOne({ _id: body.id as string }, { $set: { filter: JSON.stringify(filter) } });
    for (const change of [{ name: 'Second' }, { filter }]) {
      const { status, body } = await put(path, change);
      expect([status, body.filter]).toEqual([200, filter]);
    }
  });

  it('names the type that the present filter does not fit, and the path of a new one', async () => {
    const filter = { 'data.total': { $gte: 10_000 } };
    const { path, body } = await createIntegration(setup.service, { event_types: ['ORDER_PLACED'], filter });
    const detail = 'data.total is not in the payload of PRODUCT_UPDATED';
    const types = ['ORDER_PLACED', 'PRODUCT_UPDATED'];
    for (const [change, pointer] of [
      [{ event_types: types }, '#/event_types/1'],
      [{ event_types: types, filter: { ...filter, type: { $exists: true } } }, '#/filter/data.total'],
    ] as const) {
      const refused = await put(path, change);
      expect([refused.status, refused.body.type]).toEqual([422, problem('filter-not-applicable')]);
      expect(refused.body.errors).toEqual([{ detail, pointer }]);
    }
    expect((await setup.service.call('GET', path)).body).toEqual(body);
    expect((await put(path, { event_types: types, filter: {} })).status).toBe(200);
  });

  it('names a location that does not exist', async () => {
    const { status, body } = await put((await createIntegration(setup.service)).path, { location_ids: [unknownId] });
    expect(status).toBe(422);
    expect(body).toMatchObject({ type: problem('unknown-location'), errors: [{ pointer: '#/location_ids/0' }] });
  });

  it.each([
    ['in another parameter', `https://kitchen.example.com/?key=${mask}`],
    ['on another host', `https://kitchen.example.org/?token=${mask}`],
    ['on another port', `https://kitchen.example.com:8443/?token=${mask}`],
    ['without TLS', `http://kitchen.example.com/?token=${mask}`],
  ])('refuses a masked value in a URL that stands for nothing: %s', async (_, url) => {
    const { path } = await createIntegration(setup.service, { url: 'https://kitchen.example.com/?token=EXAMPLE' });
    const answer = await put(path, { url });
    expect(answer.status).toBe(422);
    expect(answer.body.type).toBe(problem('target-not-allowed'));
    expect(answer.body.errors).toEqual([
      {
        pointer: '#/url',
        detail: `contains ${mask}, but no value is stored for it with this scheme, host and port: send the value`,
      },
    ]);
  });

  const credentials = { 'X-Kitchen': 'ground', Authorization: 'EXAMPLE', 'X-Api-Key': 'EXAMPLE' };

  it.each([
    ['leaves the headers out', 'https://kitchen.example.org/', undefined, ['Authorization', 'X-Api-Key']],
    [
      'sends them masked',
      'http://kitchen.example.com/',
      { authorization: mask, 'X-Api-Key': 'new' },
      ['Authorization'],
    ],
  ])('does not let credentials go to another host with a URL: a PUT that %s', async (_, url, headers, names) => {
    const { path, body } = await createIntegration(setup.service, { headers: credentials });
    const refused = await put(path, headers === undefined ? { url } : { url, headers });
    expect([refused.status, refused.body.type]).toEqual([422, problem('header-not-allowed')]);
    const pointers = (refused.body.errors as { pointer: string }[]).map(({ pointer }) => pointer);
    expect(pointers).toEqual(names.map((name) => `#/headers/${name}`));
    expect((await setup.service.call('GET', path)).body).toEqual(body);
  });

  it('lets a URL change if the headers are not secret or are sent again', async () => {
    const plain = await createIntegration(setup.service, { headers: { 'X-Kitchen': 'ground' } });
    const url = 'https://kitchen.example.org/';
    expect((await put(plain.path, { url })).body).toMatchObject({ url, headers: { 'X-Kitchen': 'ground' } });
    const { path } = await createIntegration(setup.service, { headers: credentials });
    const headers = { 'X-Kitchen': 'ground', Authorization: 'EXAMPLE-2' };
    expect((await put(path, { url, headers })).body.headers).toEqual({ 'X-Kitchen': 'ground', Authorization: mask });
    const same = await createIntegration(setup.service, { headers: credentials });
    expect((await put(same.path, { url: 'https://kitchen.example.com/other' })).status).toBe(200);
  });

  it.each([
    ['target-not-allowed', '#/url', { url: 'http://10.0.0.1/' }],
    ['header-not-allowed', '#/headers/Host', { headers: { Host: 'a' } }],
    ['header-not-allowed', '#/headers/X-New', { headers: { 'X-New': mask } }],
  ])('%s: %s', async (type, pointer, change) => {
    const { path, body } = await createIntegration(setup.service, { headers: { 'X-Kitchen': 'ground' } });
    const { status, body: answer } = await put(path, change);
    expect(status).toBe(422);
    expect(answer.type).toBe(problem(type));
    expect((answer.errors as { pointer: string }[]).map((error) => error.pointer)).toEqual([pointer]);
    expect((await setup.service.call('GET', path)).body).toEqual(body);
  });
});

describeMissing(setup, { method: 'PUT', body: { name: 'Other' } });
