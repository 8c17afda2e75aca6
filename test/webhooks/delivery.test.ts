import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import type { Webhooks } from '../../src/webhooks/webhooks.ts';
import { startHarness, type Harness } from './harness.ts';

const secret = 'a-secret-of-at-least-24-characters';
const standardSecret = (text: string): string => `whsec_${Buffer.from(text).toString('base64')}`;

let harness: Harness;
let webhooks: Webhooks;
let receiver: Receiver;

beforeAll(async () => {
  harness = await startHarness();
  receiver = await startReceiver();
  webhooks = harness.createEngine();
  webhooks.start();
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

describe('from outbox to receiver', () => {
  it('posts the event with all headers, signed by the bytes that arrive, and settles it', async () => {
    receiver.forget();
    const id = await harness.addIntegration({ url: receiver.url, secret, headers: { Authorization: 'Bearer abc' } });
    const eventId = await harness.placeOrder(webhooks);
    const [request] = await receiver.received(1);
    await harness.settled(id, 1);

    const payload = JSON.parse(String(request?.body)) as Record<string, unknown>;
    expect(payload).toMatchObject({ type: 'ORDER_PLACED', data: { itemNames: ['Café crème', 'Crêpe'] } });
    expect(request).toMatchObject({ method: 'POST', path: '/hook' });
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Service-WebhookAgent/1.2.3',
      'x-service-event-type': 'ORDER_PLACED',
      'x-service-event-target-uuid': payload['targetUuid'],
      'x-service-application-id': id,
      'x-service-signature': createHmac('sha256', secret)
        .update(request?.body ?? '')
        .digest('hex'),
      'webhook-id': eventId,
      authorization: 'Bearer abc',
    });
    expect(new Webhook(standardSecret(secret)).verify(request?.body ?? '', { ...request?.headers })).toEqual(payload);

    expect(await harness.waitingEvents()).toBe(0);
    expect(await harness.delivery(eventId, id)).toMatchObject({ status: 'delivered', tries: 1, failures: 0 });
    expect(await harness.attempts(eventId, id)).toMatchObject([{ number: 1, status: 200, error: undefined }]);
  });
});
