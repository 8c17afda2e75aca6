import { describe, expect, it } from '@jest/globals';
import { problem } from '../../support/per-operation.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createIntegration, describeMissing, eventually, sendTest, setUpIntegrations } from './integrations-harness.ts';

const setup = setUpIntegrations();

describe('200', () => {
  it('removes the integration', async () => {
    const { path } = await createIntegration(setup.service);
    const { status, body } = await setup.service.call('DELETE', path);
    expect(status).toBe(200);
    expect(body).toEqual({ ok: true });
    expect((await setup.service.call('GET', path)).status).toBe(404);
    expect((await setup.service.call('DELETE', path)).status).toBe(404);
  });

  it('deletes its deliveries', async () => {
    const receiver = await startReceiver();
    const integration = await createIntegration(setup.service, { url: receiver.url });
    const { id } = await sendTest(setup.service, integration);
    const delivery = `/api/v1/deliveries/${id}`;
    await eventually(setup.service, delivery, ({ status }) => status === 'delivered');
    await setup.service.call('DELETE', integration.path);
    for (const [method, path] of [
      ['GET', delivery],
      ['GET', `${delivery}/attempts`],
      ['POST', `${delivery}/resend`],
    ] as const) {
      const { status, body } = await setup.service.call(method, path);
      expect([status, body.type]).toEqual([404, problem('delivery-not-found')]);
    }
    await receiver.close();
  });
});

describe('412', () => {
  it('does not delete an integration that is newer than If-Match', async () => {
    const { path, etag } = await createIntegration(setup.service);
    const paused = await setup.service.call('POST', `${path}/pause`);
    const old = await setup.service.call('DELETE', path, { headers: { 'If-Match': etag } });
    expect([old.status, old.body.type]).toEqual([412, problem('precondition-failed')]);
    const headers = { 'If-Match': paused.headers['etag'] ?? '' };
    expect((await setup.service.call('DELETE', path, { headers })).status).toBe(200);
  });
});

describeMissing(setup, { method: 'DELETE' });
