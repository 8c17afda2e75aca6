import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { uuidForm } from '../../orders/catalog/catalog-harness.ts';
import { problem } from '../../support/per-operation.ts';
import { openShop, placeOrder } from '../../orders/orders-harness.ts';
import {
  createIntegration,
  describeMissing,
  describeRepetition,
  eventually,
  setUpIntegrations,
} from './integrations-harness.ts';

const setup = setUpIntegrations();
const suffix = '/replays';
const since = '2026-01-01';

const prepare = async (): Promise<{ method: string; path: string; body: unknown }> => ({
  method: 'POST',
  path: `${(await createIntegration(setup.service, { url: setup.receiver.url })).path}${suffix}`,
  body: { since },
});

describe('202', () => {
  it('sends the events of the period that have a subscribed type', async () => {
    const shop = await openShop(setup.service);
    const witness = await createIntegration(setup.service, {
      url: setup.receiver.url,
      event_types: ['ORDER_PLACED', 'PRODUCT_UPDATED'],
    });
    const first = await placeOrder(setup.service, shop);
    const second = await placeOrder(setup.service, shop);
    await setup.service.call('PUT', `/v1/products/${shop.pie.id}`, { body: { price: 380 } });
    const third = await placeOrder(setup.service, shop);
    await eventually(setup.service, `${witness.deliveries}&status=delivered`, ({ data }) => data.length === 4);
    setup.receiver.forget();

    // The receiver has not received any of them before.
    const { id, path } = await createIntegration(setup.service, {
      url: setup.receiver.url,
      event_types: ['ORDER_PLACED'],
    });
    const span = { since: second.body.created_at as string, until: third.body.created_at as string };
    const { status, body, headers } = await setup.service.call('POST', `${path}${suffix}`, { body: span });
    expect(status).toBe(202);
    expect(body).toEqual({
      id: expect.stringMatching(uuidForm),
      integration_id: id,
      ...span,
      status: 'running',
      delivery_count: 0,
      progress: 0,
      created_at: expect.any(String),
    });
    const location = headers['location'] ?? '';
    expect(location).toBe(`/api/v1/replays/${body.id}`);
    const done = await eventually(setup.service, location, (replay) => replay.status === 'done');
    expect(done.body.delivery_count).toBe(1);
    const [request] = await setup.receiver.received(1);
    expect(request?.headers['x-service-event-target-uuid']).toBe(second.id);

    const { body: all } = await setup.service.call('POST', `${path}${suffix}`, {
      body: { since: first.body.created_at },
    });
    await setup.receiver.received(4);
    expect(
      setup.receiver.requests.map(({ headers: { 'x-service-event-target-uuid': target } }) => target).sort(),
    ).toEqual([first.id, second.id, second.id, third.id].sort());
    // A redelivery has the id of its event.
    const ids = setup.receiver.requests.map((repeated) => repeated.headers['webhook-id']);
    expect(new Set(ids).size).toBe(3);
    const { body: deliveries } = await setup.service.call('GET', `/api/v1/deliveries?integration_id=${id}`);
    const replayIds = (deliveries.data as { replay_id: string }[]).map(({ replay_id }) => replay_id);
    expect(replayIds.filter((replayId) => replayId === all.id)).toHaveLength(3);
  });

  it('goes on with the event types and the filter that the integration gets meanwhile', async () => {
    const shop = await openShop(setup.service);
    const small = await placeOrder(setup.service, shop);
    const { total } = small.body as { total: number };
    const witness = await createIntegration(setup.service, { url: setup.receiver.url });
    await setup.service.call('PUT', `/v1/products/${shop.coffee.id}`, { body: { price: 1_380 } });
    const larger = await placeOrder(setup.service, shop);
    await eventually(setup.service, `${witness.deliveries}&status=delivered`, ({ data }) => data.length === 1);
    setup.receiver.forget();

    const { path, deliveries } = await createIntegration(setup.service, {
      url: setup.receiver.url,
      event_types: ['PRODUCT_UPDATED'],
    });
    expect((await setup.service.call('POST', `${path}/pause`)).status).toBe(200);
    // While it is paused, nothing of the replay is sent.
    const body = { since: small.body.created_at };
    const { status, headers } = await setup.service.call('POST', `${path}${suffix}`, { body });
    expect(status).toBe(202);
    const change = { event_types: ['ORDER_PLACED'], filter: { 'data.total': { $gte: total + 1 } } };
    expect((await setup.service.call('PUT', path, { body: change })).status).toBe(200);
    expect((await setup.service.call('POST', `${path}/enable`)).status).toBe(200);
    const done = await eventually(setup.service, headers['location'] ?? '', (replay) => replay.status === 'done');
    expect(done.body.delivery_count).toBe(1);
    await eventually(setup.service, `${deliveries}&status=delivered`, ({ data }) => data.length === 1);
    expect(setup.receiver.requests.map(({ headers: { 'x-service-event-target-uuid': target } }) => target)).toEqual([
      larger.id,
    ]);
  });
});

describe('the period', () => {
  it.each([
    [
      'UTC without an offset',
      { since: '2026-01-01T00:00:00', until: '2026-01-02T00:00:00' },
      ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'],
    ],
    [
      'rounded up to the millisecond',
      { since: '2026-01-01T00:00:00.0000001Z', until: '2026-01-01T23:59:59.9990000000001Z' },
      ['2026-01-01T00:00:00.001Z', '2026-01-02T00:00:00.000Z'],
    ],
    [
      'from year 1 to year 9999',
      { since: '0000-01-01T00:00:00-00:00', until: '9999-12-31T23:59:59-23:59' },
      ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'],
    ],
  ])('is %s', async (_name, body, span) => {
    const { path } = await prepare();
    const { status, headers } = await setup.service.call('POST', path, { body });
    expect(status).toBe(202);
    const done = await eventually(setup.service, headers['location'] ?? '', (replay) => replay.status === 'done');
    expect([done.body.since, done.body.until]).toEqual(span);
  });
});

describe('400', () => {
  it.each([
    ['#/since', {}],
    ['#/since', { since: 'yesterday' }],
    ['#/until', { since, until: '2026-02-30' }],
    ['#/types', { since, types: ['ORDER_PLACED'] }],
  ])('names %s', async (pointer, body) => {
    const { path } = await prepare();
    const { status, body: answer } = await setup.service.call('POST', path, { body });
    expect(status).toBe(400);
    expect((answer.errors as { pointer: string }[]).map((error) => error.pointer)).toContain(pointer);
  });

  it.each([
    ['until', { since: '2026-01-02', until: '2026-01-02T00:00:00+00:00' }],
    ['until', { since: '2026-01-02T00:00:00+01:00', until: '2026-01-01' }],
    ['until', { since: '2026-01-02T00:00:00.0001Z', until: '2026-01-02T00:00:00.0002Z' }],
    ['the present', { since: '2999-01-01' }],
  ])('refuses a span that does not begin before %s', async (end, body) => {
    const { path } = await prepare();
    const { status, body: answer } = await setup.service.call('POST', path, { body, differs: 'empty-span' });
    expect(status).toBe(400);
    expect(answer.errors).toEqual([{ detail: `must be before ${end}`, pointer: '#/since' }]);
  });
});

describe('422', () => {
  it('refuses a key that was used with another body', async () => {
    const { path } = await prepare();
    const headers = { 'Idempotency-Key': randomUUID() };
    await setup.service.call('POST', path, { body: { since }, headers });
    const { status, body } = await setup.service.call('POST', path, { body: { since: '2026-01-02' }, headers });
    expect([status, body.type]).toEqual([422, problem('idempotency-key-reused')]);
  });
});

describeRepetition(setup, prepare);
describeMissing(setup, { method: 'POST', suffix, body: { since } });
