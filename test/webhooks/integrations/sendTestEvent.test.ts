import { describe, expect, it } from '@jest/globals';
import { eventCatalog, eventTypes } from '../../../generated/events.ts';
import { openShop } from '../../orders/orders-harness.ts';
import { uuidForm } from '../../orders/catalog/catalog-harness.ts';
import {
  createIntegration,
  describeMissing,
  describeRepetition,
  eventually,
  openBreaker,
  publishedSchemas,
  setUpIntegrations,
} from './integrations-harness.ts';

const setup = setUpIntegrations();

const prepare = async (): Promise<{ method: string; path: string }> => ({
  method: 'POST',
  path: `${(await createIntegration(setup.service, { url: setup.receiver.url })).path}/test`,
});

describe('202', () => {
  it('makes an attempt immediately, even while the circuit breaker is open', async () => {
    const integration = await createIntegration(setup.service, { url: setup.receiver.url });
    await openBreaker(setup.service, setup.receiver, integration);
    setup.receiver.forget();
    setup.receiver.next({ kind: 'answer', status: 500 });
    const failing = await setup.service.call('POST', `${integration.path}/test`);
    await setup.receiver.received(1);
    expect(setup.receiver.requests[0]?.headers['webhook-id']).toBe(failing.body.event_id);
    // This attempt still fails and changes nothing. The next one succeeds and closes the breaker.
    const { body } = await eventually(
      setup.service,
      integration.path,
      ({ last_error }) => last_error.status_code === 500,
    );
    expect(body).toHaveProperty('retrying_until');
    const { body: delivery } = await setup.service.call('POST', `${integration.path}/test`);
    await eventually(setup.service, `/api/v1/deliveries/${delivery.id}`, ({ status }) => status === 'delivered');
    const { body: mended } = await eventually(
      setup.service,
      integration.path,
      ({ consecutive_failures }) => consecutive_failures === 0,
    );
    expect(mended).not.toHaveProperty('retrying_until');
    expect(mended).not.toHaveProperty('last_error');
  });

  it('sends an event to this integration only', async () => {
    setup.receiver.forget();
    await createIntegration(setup.service, { url: setup.receiver.url });
    const { id, path } = await createIntegration(setup.service, { url: setup.receiver.url });
    const { status, body, headers } = await setup.service.call('POST', `${path}/test`);
    expect(status).toBe(202);
    expect(body).toEqual({
      id: expect.stringMatching(uuidForm),
      event_id: expect.stringMatching(uuidForm),
      event_type: 'TEST',
      target_id: id,
      integration_name: 'Kitchen display',
      integration_id: id,
      test: true,
      status: 'pending',
      attempt_count: 0,
      next_attempt_at: body.created_at,
      created_at: expect.any(String),
      body: expect.any(String),
    });
    expect(JSON.parse(body.body)).toEqual({
      type: 'TEST',
      targetUuid: id,
      targetId: id,
      createdAt: body.created_at,
      data: {},
      id: body.event_id,
    });
    const location = headers['location'] ?? '';
    expect(location).toBe(`/api/v1/deliveries/${body.id}`);
    await eventually(setup.service, location, (delivery) => delivery.status === 'delivered');
    expect(setup.receiver.requests).toHaveLength(1);
    const [request] = setup.receiver.requests;
    expect(request?.body.toString()).toBe(body.body);
    expect(request?.headers).toMatchObject({
      'x-service-event-type': 'TEST',
      'x-service-event-target-uuid': id,
      'x-service-application-id': id,
      'webhook-id': body.event_id,
    });
  });

  it.each(eventTypes.filter((type) => type !== 'TEST'))('sends a sample of %s, marked as a test', async (type) => {
    setup.receiver.forget();
    const { id, path } = await createIntegration(setup.service, { url: setup.receiver.url });
    const { status, body } = await setup.service.call('POST', `${path}/test`, { body: { type } });
    expect([status, body.event_type, body.test]).toEqual([202, type, true]);
    const [request] = await setup.receiver.received(1);
    expect(request?.headers).toMatchObject({ 'x-service-event-type': type, 'x-service-application-id': id });
    const payload = JSON.parse(request?.body.toString() ?? '') as { data: object };
    const { example } = eventCatalog[type];
    expect(payload).toEqual({ ...example, createdAt: body.created_at, id: body.event_id, test: true });
    const isValid = (await publishedSchemas(setup.service))(type);
    expect(isValid(payload) || isValid.errors).toBe(true);
  });

  it('sends a sample of a location of the integration, if it is for some only', async () => {
    setup.receiver.forget();
    const { location } = await openShop(setup.service);
    const { path } = await createIntegration(setup.service, { url: setup.receiver.url, location_ids: [location.id] });
    for (const type of ['ORDER_PLACED', 'FISCAL_DAY_END']) {
      await setup.service.call('POST', `${path}/test`, { body: { type } });
    }
    const payloads = (await setup.receiver.received(2)).map(({ body }) => JSON.parse(body.toString()));
    expect(payloads.map(({ locationId }) => locationId)).toEqual([location.id, location.id]);
    const day = payloads.find(({ type }) => type === 'FISCAL_DAY_END');
    expect([day.targetId, day.targetUuid]).toEqual([location.id, location.id]);
  });

  it('is sent whatever the filter is, also by a resend', async () => {
    const { path } = await createIntegration(setup.service, {
      url: setup.receiver.url,
      event_types: ['ORDER_PLACED'],
      filter: { 'data.total': { $lte: 0 } },
    });
    for (const type of ['TEST', 'ORDER_PLACED']) {
      const sent = await setup.service.call('POST', `${path}/test`, { body: { type } });
      expect([sent.status, sent.body.event_type]).toEqual([202, type]);
      const resent = await setup.service.call('POST', `/api/v1/deliveries/${sent.body.id as string}/resend`);
      expect(resent.status).toBe(202);
    }
    await setup.receiver.received(4);
  });

  it('is not sent again by a replay of a time span, but by a resend', async () => {
    const { path } = await createIntegration(setup.service, { url: setup.receiver.url, event_types: ['ORDER_PLACED'] });
    const { body: sent } = await setup.service.call('POST', `${path}/test`, { body: { type: 'ORDER_PLACED' } });
    const replay = await setup.service.call('POST', `${path}/replays`, { body: { since: '2026-01-01' } });
    const { body: done } = await eventually(
      setup.service,
      `/api/v1/replays/${replay.body.id}`,
      (body) => body.status === 'done',
    );
    const { body: listed } = await setup.service.call('GET', `/api/v1/deliveries?event_id=${sent.event_id}`);
    expect([done.status, listed.pagination.total, listed.data[0].test]).toEqual(['done', 1, true]);
    const resent = await setup.service.call('POST', `/api/v1/deliveries/${sent.id}/resend`);
    expect([resent.status, resent.body.test]).toEqual([202, true]);
  });

  it('is held while the integration is paused', async () => {
    setup.receiver.forget();
    const { path } = await createIntegration(setup.service, { url: setup.receiver.url });
    await setup.service.call('POST', `${path}/pause`);
    const { status, body } = await setup.service.call('POST', `${path}/test`);
    expect(status).toBe(202);
    expect(body.status).toBe('held');
    await setup.service.call('POST', `${path}/enable`);
    await setup.receiver.received(1);
  });
});

describe('400', () => {
  it.each(['ORDER_MOVED', 'order_placed', '', 1])('refuses the type %j', async (type) => {
    const { path } = await createIntegration(setup.service, { url: setup.receiver.url });
    const answer = await setup.service.call('POST', `${path}/test`, { body: { type } });
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, '#/type']);
  });
});

describeRepetition(setup, prepare);
describeRepetition(setup, async () => ({ ...(await prepare()), body: { type: 'ORDER_PLACED' } }));
describeMissing(setup, { method: 'POST', suffix: '/test' });
