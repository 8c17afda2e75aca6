import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { toOutboxDocuments } from '../../src/webhooks/events/outbox.ts';
import { openShop, placeOrder } from '../orders/orders-harness.ts';
import { startAnother } from '../support/per-operation.ts';
import { until } from '../support/until.ts';
import { createIntegration, setUpIntegrations } from './integrations/integrations-harness.ts';

/** The only process at first. */
const setup = setUpIntegrations({ WEBHOOKS: 'off' });

/** The ids of the events about orders, as the feed has them. */
const feedOf = (count: number): Promise<string[]> =>
  until(
    async () => {
      const { body } = await setup.service.call('GET', '/api/v1/events?type=ORDER_PLACED&limit=100');
      return (body['data'] as { id: string }[]).map(({ id }) => id);
    },
    (ids) => ids.length >= count,
  );

it('has events in the feed, and sends none; another process sends each once', async () => {
  const { receiver } = setup;
  const integration = await createIntegration(setup.service, { url: receiver.url, event_types: ['ORDER_PLACED'] });
  const shop = await openShop(setup.service);
  const { id } = await placeOrder(setup.service, shop);
  await feedOf(1);
  // What a process that has died left in an outbox.
  const orders = setup.database.db.collection<{ _id: string }>('orders');
  const data = { itemNames: ['Tea'], itemTags: [], total: 250, currency: 'EUR', spotName: '', zoneName: '' };
  const about = { id: randomUUID(), type: 'ORDER_PLACED' as const, targetId: id, locationId: shop.location.id };
  const outbox = toOutboxDocuments([{ ...about, createdAt: new Date(), data }]);
  await orders.updateOne({ _id: id }, { $set: { outbox } });
  const events = await feedOf(2);
  expect(events).toContain(about.id);
  await until(
    () => orders.countDocuments({ 'outbox.id': { $gt: '' } }),
    (count) => count === 0,
  );
  const waiting = await setup.service.call('GET', integration.deliveries);
  expect((waiting.body['data'] as { status: string }[]).map(({ status }) => status)).toEqual(['pending', 'pending']);
  expect(receiver.requests).toHaveLength(0);

  const sending = await startAnother(setup.service, { SECRETS_KEY: setup.service.environment['SECRETS_KEY'] ?? '' });
  await receiver.received(2);
  await placeOrder(setup.service, shop);
  await receiver.received(3);
  await sending.close();
  const sent = receiver.requests.map(({ headers }) => headers['webhook-id']);
  expect(sent.toSorted()).toEqual((await feedOf(3)).toSorted());
});
