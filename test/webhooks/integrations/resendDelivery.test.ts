import { describe, expect, it } from '@jest/globals';
import { unknownId, uuidForm } from '../../orders/catalog/catalog-harness.ts';
import { problem } from '../../support/per-operation.ts';
import type { Answer } from '../../support/service.ts';
import {
  createIntegration,
  describeRepetition,
  eventually,
  sendTest,
  setUpIntegrations,
} from './integrations-harness.ts';

const setup = setUpIntegrations();

const deliver = async (): Promise<{ method: string; path: string; integration: string; delivery: Answer['body'] }> => {
  const integration = await createIntegration(setup.service, { url: setup.receiver.url });
  const { id } = await sendTest(setup.service, integration);
  const target = `/api/v1/deliveries/${id}`;
  const { body } = await eventually(setup.service, target, ({ status }) => status === 'delivered');
  return { method: 'POST', path: `${target}/resend`, integration: integration.path, delivery: body };
};

describe('202', () => {
  it('sends the same event in a new delivery', async () => {
    const { path, delivery } = await deliver();
    setup.receiver.forget();
    const { status, body, headers } = await setup.service.call('POST', path);
    expect(status).toBe(202);
    expect(body).toMatchObject({
      event_id: delivery.event_id,
      event_type: delivery.event_type,
      integration_id: delivery.integration_id,
      replay_id: expect.stringMatching(uuidForm),
      attempt_count: 0,
      body: delivery.body,
    });
    expect(body.id).not.toBe(delivery.id);
    expect(headers['location']).toBe(`/api/v1/deliveries/${body.id}`);
    const [request] = await setup.receiver.received(1);
    expect(request?.headers['webhook-id']).toBe(delivery.event_id);
    expect(request?.body.toString()).toBe(delivery.body);

    const replay = await setup.service.call('GET', `/api/v1/replays/${body.replay_id}`);
    expect(replay.body).toMatchObject({ status: 'done', delivery_count: 1, delivery_id: delivery.id });
    expect(replay.body).not.toHaveProperty('since');
  });

  it('sends the delivery of a resend again', async () => {
    const { path } = await deliver();
    const { body } = await setup.service.call('POST', path);
    const { status, body: again } = await setup.service.call('POST', `/api/v1/deliveries/${body.id}/resend`);
    expect(status).toBe(202);
    expect(again).toMatchObject({ event_id: body.event_id, body: body.body });
  });

  it('is held while the integration is paused', async () => {
    const { path, integration } = await deliver();
    await setup.service.call('POST', `${integration}/pause`);
    expect((await setup.service.call('POST', path)).body).toMatchObject({ status: 'held', held_by: 'pause' });
  });
});

describe('a receiver that gets nothing because it failed', () => {
  it('is shown in the answer, and gets one attempt with `now`', async () => {
    const { path, integration } = await deliver();
    setup.receiver.next({ kind: 'answer', status: 503, headers: { 'Retry-After': '600' } });
    await setup.service.call('POST', path);
    await eventually(setup.service, integration, ({ retrying_until }) => retrying_until !== undefined);
    const until = (await setup.service.call('GET', integration)).body.retrying_until as string;
    setup.receiver.forget();

    const held = (await setup.service.call('POST', path)).body;
    expect(held).toMatchObject({ status: 'pending', held_by: 'breaker', attempt_count: 0 });
    expect(Math.abs(Date.parse(held.next_attempt_at as string) - Date.parse(until))).toBeLessThan(5_000);
    const target = `/api/v1/deliveries/${held.id as string}`;
    expect((await setup.service.call('GET', target)).body).toMatchObject({ held_by: 'breaker' });
    expect(setup.receiver.requests).toEqual([]);

    const sent = (await setup.service.call('POST', path, { body: { now: true } })).body;
    expect(sent).not.toHaveProperty('held_by');
    const [request] = await setup.receiver.received(1);
    expect(request?.headers['webhook-id']).toBe(sent.event_id);
    // The success ends the pause.
    await eventually(setup.service, target, ({ status }) => status === 'delivered');
  });
});

describe('404', () => {
  it('says that the delivery does not exist', async () => {
    const { status, body } = await setup.service.call('POST', `/api/v1/deliveries/${unknownId}/resend`);
    expect([status, body.type]).toEqual([404, problem('delivery-not-found')]);
  });
});

describeRepetition(setup, deliver);
