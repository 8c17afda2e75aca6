import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { openShop, placeOrder } from '../../orders/orders-harness.ts';
import { problem } from '../../support/per-operation.ts';
import type { Answer } from '../../support/service.ts';
import {
  createIntegration,
  eventually,
  sendTest,
  setUpIntegrations,
  type CreatedIntegration,
} from './integrations-harness.ts';

const setup = setUpIntegrations();
const path = '/api/v1/deliveries';

const types = ['ORDER_PLACED', 'ORDER_COMPLETED', 'ORDER_CANCELED', 'PRODUCT_UPDATED', 'CATEGORY_UPDATED'];
const create = (members: Record<string, unknown> = {}): Promise<CreatedIntegration> =>
  createIntegration(setup.service, { url: setup.receiver.url, event_types: ['FISCAL_DAY_END'], ...members });

const list = async (query: Record<string, string>): Promise<Answer['body']> => {
  const { status, body } = await setup.service.call('GET', `${path}?${new URLSearchParams(query).toString()}`);
  expect(status).toBe(200);
  return body;
};
const idsOf = async (query: Record<string, string>): Promise<string[]> => {
  const { data, pagination } = await list({ limit: '100', ...query });
  expect(pagination.total).toBe(data.length);
  return (data as { id: string }[]).map(({ id }) => id);
};
/** Waits until the deliveries of a list have ended. */
const settled = (query: Record<string, string>, count: number): Promise<Answer> =>
  eventually(
    setup.service,
    `${path}?${new URLSearchParams(query).toString()}`,
    ({ data }: { data: { status: string }[] }) =>
      data.length === count && data.every(({ status }) => status === 'delivered'),
  );

describe('200', () => {
  it('shows deliveries of several integrations in the form of getDelivery, the newest first, without their bodies', async () => {
    const [kitchen, bar] = [await create({ name: 'Kitchen' }), await create({ name: 'Bar' })];
    const sent = [];
    for (const integration of [kitchen, bar, kitchen]) {
      const { id } = await sendTest(setup.service, integration);
      sent.unshift((await eventually(setup.service, `${path}/${id}`, ({ status }) => status === 'delivered')).body);
    }
    const { data } = await list({ event_type: 'TEST' });
    expect((data as object[]).slice(0, 3)).toEqual(sent.map(({ body: _, ...shown }) => shown));
    expect((data as { integration_name: string }[]).slice(0, 3).map((each) => each.integration_name)).toEqual([
      'Kitchen',
      'Bar',
      'Kitchen',
    ]);
  });

  it('filters by the target of the event, and includes resends', async () => {
    const [first, second] = [await create({ event_types: types }), await create({ event_types: ['ORDER_PLACED'] })];
    const shop = await openShop(setup.service);
    const [completed, canceled] = [await placeOrder(setup.service, shop), await placeOrder(setup.service, shop)];
    await settled({ target_id: completed.id }, 2);
    await setup.service.call('POST', `/v1/orders/${completed.id}/complete`);
    await setup.service.call('POST', `/v1/orders/${canceled.id}/cancel`);
    const { body } = await settled({ target_id: completed.id }, 3);
    const shown = (body.data as Answer['body'][]).map(({ event_type, integration_id, target_id }) => {
      expect(target_id).toBe(completed.id);
      return `${event_type} ${integration_id}`;
    });
    expect(shown[0]).toBe(`ORDER_COMPLETED ${first.id}`);
    expect(shown.slice(1).sort()).toEqual([`ORDER_PLACED ${first.id}`, `ORDER_PLACED ${second.id}`].sort());
    const { body: others } = await settled({ target_id: canceled.id }, 3);
    expect(others.data[0]).toMatchObject({ event_type: 'ORDER_CANCELED', integration_id: first.id });

    const resent = await setup.service.call('POST', `${path}/${body.data[0].id}/resend`);
    await settled({ target_id: completed.id }, 4);
    expect((await idsOf({ target_id: completed.id }))[0]).toBe(resent.body.id);
    expect(await idsOf({ target_id: completed.id, event_type: 'ORDER_CANCELED' })).toEqual([]);
    expect(await idsOf({ target_id: completed.id, integration_id: second.id })).toHaveLength(1);
    expect(await idsOf({ target_id: completed.id, status: 'failed' })).toEqual([]);
    expect(await idsOf({ target_id: randomUUID() })).toEqual([]);
  });

  it('filters by a product, a category, or a tested integration as the target', async () => {
    const integration = await create({ event_types: types });
    const { pie } = await openShop(setup.service);
    await setup.service.call('PUT', `/v1/products/${pie.id}`, { body: { price: 380 } });
    await sendTest(setup.service, integration);
    for (const [target_id, event_type] of [
      [pie.id, 'PRODUCT_UPDATED'],
      [pie.body.category_id, 'CATEGORY_UPDATED'],
      [integration.id, 'TEST'],
    ]) {
      const query = { target_id, integration_id: integration.id };
      const { body } = await settled(query, 1);
      expect(body.data[0]).toMatchObject({ event_type, target_id });
    }
  });

  it('filters by the event, which has several deliveries', async () => {
    const [first, second] = [await create({ event_types: types }), await create({ event_types: types })];
    const order = await placeOrder(setup.service, await openShop(setup.service));
    const byBoth = async (event_type: string): Promise<void> => {
      for (const { id } of [first, second]) await settled({ target_id: order.id, integration_id: id, event_type }, 1);
    };
    await byBoth('ORDER_PLACED');
    const placed = (await list({ target_id: order.id })).data as { id: string; event_id: string }[];
    const [event_id = '', ...more] = new Set(placed.map((delivery) => delivery.event_id));
    expect(more).toEqual([]);
    const { headers } = setup.receiver.requests.find((request) => request.headers['webhook-id'] === event_id) ?? {};
    expect(headers).toMatchObject({ 'x-service-event-target-uuid': order.id });
    await setup.service.call('POST', `/v1/orders/${order.id}/complete`);
    await byBoth('ORDER_COMPLETED');

    const ids = placed.map(({ id }) => id);
    expect(await idsOf({ event_id })).toEqual(ids);
    expect(await idsOf({ event_id, target_id: order.id, event_type: 'ORDER_PLACED' })).toEqual(ids);
    expect(await idsOf({ event_id, integration_id: first.id })).toHaveLength(1);
    for (const none of [{ status: 'failed' }, { target_id: randomUUID() }, { event_type: 'ORDER_COMPLETED' }]) {
      expect(await idsOf({ event_id, ...none })).toEqual([]);
    }
    expect(await idsOf({ event_id: randomUUID() })).toEqual([]);
    const resent = await setup.service.call('POST', `${path}/${ids[0]}/resend`);
    expect((await idsOf({ event_id }))[0]).toBe(resent.body.id);
    const test = await sendTest(setup.service, first);
    expect(await idsOf({ event_id: String(test.event_id) })).toEqual([test.id]);
  });

  it('filters by the outcome of the last attempt', async () => {
    const integration = await create();
    setup.receiver.next({ kind: 'answer', status: 503, headers: { 'Retry-After': '600' } });
    const { id } = await sendTest(setup.service, integration);
    await eventually(setup.service, `${path}/${id}`, ({ last_outcome }) => last_outcome === '5xx');
    expect(await idsOf({ last_outcome: '5xx' })).toContain(id);
    expect(await idsOf({ last_outcome: '5xx', status: 'retrying', integration_id: integration.id })).toEqual([id]);
    expect(await idsOf({ last_outcome: '4xx' })).not.toContain(id);
    expect(await idsOf({ last_outcome: '2xx' })).not.toContain(id);
  });

  it('filters by integration, status, type and time', async () => {
    const [integration, other] = [await create(), await create()];
    const integration_id = integration.id;
    const { id } = await sendTest(setup.service, integration);
    const { id: second } = await sendTest(setup.service, integration);
    await sendTest(setup.service, other);
    await settled({ integration_id: other.id }, 1);
    const { body } = await settled({ integration_id }, 2);
    const since = body.data[0].created_at as string;

    expect(await idsOf({ integration_id })).toEqual([second, id]);
    expect(await idsOf({ integration_id, status: 'delivered', event_type: 'TEST' })).toEqual([second, id]);
    expect(await idsOf({ integration_id, event_type: 'ORDER_PLACED' })).toEqual([]);
    expect(await idsOf({ integration_id, status: 'failed' })).toEqual([]);
    expect(await idsOf({ integration_id, status: 'delivered', since })).toEqual([second]);
    expect(await idsOf({ integration_id, until: since })).toEqual([id]);
    expect(await idsOf({ integration_id: randomUUID() })).toEqual([]);
    expect(await idsOf({ integration_id: randomUUID(), status: 'held' })).toEqual([]);
    expect(await idsOf({ since: '2026-01-01', until: '2026-01-02', status: 'delivered' })).toEqual([]);
    const ofAll = await list({ status: 'delivered', event_type: 'TEST', since });
    expect((ofAll.data as { id: string }[]).map((each) => each.id)).toContain(second);
  });

  it('filters by every digit of a time, in any offset', async () => {
    const integration = await create();
    const integration_id = integration.id;
    const { id } = await sendTest(setup.service, integration);
    const { body } = await settled({ integration_id }, 1);
    const moment = body.data[0].created_at as string;
    const finer = moment.replace('Z', '000001Z');
    for (const [span, ids] of [
      [{ since: moment }, [id]],
      [{ until: moment }, []],
      [{ since: finer }, []],
      [{ until: finer }, [id]],
      [{ until: '0000-01-01T00:00:00-00:00' }, []],
      [{ since: '0000-01-01', until: '9999-12-31T23:59:59-23:59' }, [id]],
    ] as const) {
      expect([span, await idsOf({ integration_id, ...span })]).toEqual([span, ids]);
    }
  });

  it('shows no last outcome before an attempt has ended', async () => {
    const integration = await create();
    await setup.service.call('POST', `${integration.path}/pause`);
    expect(await sendTest(setup.service, integration)).not.toHaveProperty('last_outcome');
    expect((await list({ integration_id: integration.id })).data[0]).not.toHaveProperty('last_outcome');
  });

  it('distinguishes held, pending and retrying deliveries', async () => {
    const [paused, failing, waiting] = [await create(), await create(), await create()];
    await setup.service.call('POST', `${paused.path}/pause`);
    const { id: held } = await sendTest(setup.service, paused);
    setup.receiver.next({ kind: 'answer', status: 503, headers: { 'Retry-After': '600' } });
    const { id: retrying } = await sendTest(setup.service, failing);
    await eventually(setup.service, `${path}/${retrying}`, ({ status }) => status === 'retrying');
    setup.receiver.next({ kind: 'answer', delay: 1_000 });
    const { id: pending } = await sendTest(setup.service, waiting);

    const of = (status: string): Promise<string[]> => idsOf({ status });
    const [ofHeld, ofPending, ofRetrying] = [await of('held'), await of('pending'), await of('retrying')];
    const ofWaiting = await of('waiting');
    for (const id of [held, pending, retrying]) expect(ofWaiting).toContain(id);
    expect(await idsOf({ status: 'waiting', integration_id: paused.id })).toEqual([held]);
    expect(ofRetrying).toContain(retrying);
    for (const id of [held, pending]) expect(ofRetrying).not.toContain(id);
    expect(ofPending).not.toContain(retrying);
    expect(await idsOf({ status: 'retrying', integration_id: failing.id })).toEqual([retrying]);
    expect(await idsOf({ status: 'pending', integration_id: failing.id })).toEqual([]);
    expect(await idsOf({ status: 'retrying', integration_id: paused.id })).toEqual([]);
    expect(ofHeld).toContain(held);
    expect(ofHeld).not.toContain(pending);
    expect(ofPending).toContain(pending);
    expect(ofPending).not.toContain(held);
    expect(await idsOf({ status: 'held', integration_id: paused.id })).toEqual([held]);
    expect(await idsOf({ status: 'pending', integration_id: paused.id })).toEqual([]);
    expect((await list({ status: 'held' })).data[0]).toMatchObject({ id: held, status: 'held' });
    await setup.service.call('POST', `${paused.path}/enable`);
    expect(await idsOf({ status: 'held', integration_id: paused.id })).toEqual([]);
  });

  it('has exact totals', async () => {
    const integration = await create();
    await setup.service.call('POST', `${integration.path}/pause`);
    const { id } = await sendTest(setup.service, integration);
    const deliveries = setup.database.db.collection<{ _id: string }>('deliveries');
    const found = await deliveries.findOneAndDelete({ _id: id as string });
    const many = Array.from({ length: 80 }, (_, index) => ({
      ...found,
      _id: randomUUID(),
      status: index < 3 ? 'failed' : 'delivered',
      created_at: new Date(Date.parse('2025-03-01T12:00:00Z') + index * 60_000),
    }));
    await deliveries.insertMany(many);
    const until = '2025-03-02';
    for (const target of [{}, { integration_id: integration.id }]) {
      const paginationOf = async (query: Record<string, string>): Promise<object> =>
        (await list({ until, ...target, ...query })).pagination as object;
      const whole = { total: 80, limit: 20, offset: 0, next: expect.any(String) };
      expect(await paginationOf({})).toEqual(whole);
      expect(await paginationOf({ status: 'delivered' })).toEqual({ ...whole, total: 77 });
      const few = await paginationOf({ status: 'failed', limit: '2' });
      expect(few).toEqual({ total: 3, limit: 2, offset: 0, next: expect.any(String) });
      const page = await paginationOf({ limit: '100' });
      expect(page).toEqual({ total: 80, limit: 100, offset: 0, next: null });
    }
    await deliveries.deleteMany({ created_at: { $lt: new Date(until) } });
  });

  it('does not contain those of a deleted integration', async () => {
    const integration = await create();
    const { id } = await sendTest(setup.service, integration);
    await settled({ integration_id: integration.id }, 1);
    await setup.service.call('DELETE', integration.path);
    const { data } = await list({ event_type: 'TEST' });
    expect((data as { id: string }[]).map((each) => each.id)).not.toContain(id);
    expect((await list({ integration_id: integration.id })).data).toEqual([]);
  });
});

describe('400', () => {
  it.each([
    'status=other',
    'status=lost',
    'last_outcome=aborted',
    'event_type=ANY',
    'integration_id=1',
    'target_id=cat_1',
    'event_id=1',
    'last_outcome=503',
    'since=yesterday',
    'until=2026-02-30',
  ])('refuses %s', async (query) => {
    const { status, body } = await setup.service.call('GET', `${path}?${query}`);
    expect([status, body.type]).toEqual([400, problem('invalid-request')]);
  });
});

describe('403', () => {
  it('requires the scope integrations:read', async () => {
    const answerWith = async (key: string): Promise<number> => (await setup.service.call('GET', path, { key })).status;
    expect(await answerWith(await setup.service.createKey('orders:read'))).toBe(403);
    expect(await answerWith(await setup.service.createKey('integrations:read'))).toBe(200);
  });
});
