import { describe, expect, it } from '@jest/globals';
import { uuidForm } from '../../orders/catalog/catalog-harness.ts';
import {
  createIntegration,
  describeMissing,
  describeRepetition,
  eventually,
  openBreaker,
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

describeRepetition(setup, prepare);
describeMissing(setup, { method: 'POST', suffix: '/test' });
