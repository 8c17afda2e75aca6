import { describe, expect, it } from '@jest/globals';
import { openShop, orderBody } from '../../orders/orders-harness.ts';
import { createIntegration, setUpIntegrations } from './integrations-harness.ts';

const setup = setUpIntegrations();

const traceOf = (digit: string): string => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
const traces = (): string[] =>
  setup.receiver.requests
    .map(({ headers }) => `${headers['x-service-event-type'] ?? ''} ${headers['traceparent'] ?? ''}`)
    .sort();

describe('traceparent', () => {
  it('of the request that caused an event is sent to the receivers', async () => {
    const shop = await openShop(setup.service, { time_zone: 'UTC', fiscal_day_end: '00:00' });
    const { path, id } = await createIntegration(setup.service, {
      url: setup.receiver.url,
      event_types: ['ORDER_PLACED', 'PRODUCT_UPDATED', 'CATEGORY_UPDATED', 'FISCAL_DAY_END'],
    });
    const send = async (digit: string, method: string, target: string, body?: unknown): Promise<void> => {
      const headers = { traceparent: traceOf(digit) };
      const answer = await setup.service.call(method, target, body === undefined ? { headers } : { headers, body });
      expect([answer.text, answer.status < 300]).toEqual([answer.text, true]);
    };
    await send('1', 'POST', '/v1/orders', orderBody(shop));
    await send('2', 'PUT', `/v1/categories/${String(shop.coffee.body.category_id)}`, { name: 'Warm things' });
    await send('7', 'PUT', `/v1/products/${shop.coffee.id}`, { price: 430 });
    await send('3', 'POST', `${path}/test`);
    const today = new Date().toISOString().slice(0, 10);
    await send('4', 'POST', `/v1/locations/${shop.location.id}/fiscal-days/${today}/close`);
    await setup.receiver.received(6);
    const causedByEdits = [
      `CATEGORY_UPDATED ${traceOf('2')}`,
      `CATEGORY_UPDATED ${traceOf('7')}`,
      `FISCAL_DAY_END ${traceOf('4')}`,
      `ORDER_PLACED ${traceOf('1')}`,
      `PRODUCT_UPDATED ${traceOf('7')}`,
    ];
    expect(traces()).toEqual([...causedByEdits, `TEST ${traceOf('3')}`]);

    // Events of a replay have theirs too. An event without one stays without.
    setup.receiver.forget();
    const span = { since: '2020-01-01' };
    await setup.service.call('POST', `${path}/replays`, { body: span });
    await setup.receiver.received(5);
    expect(traces()).toEqual(causedByEdits);
    setup.receiver.forget();
    await setup.service.call('POST', '/v1/orders', { body: orderBody(shop), headers: { traceparent: 'nonsense' } });
    await setup.receiver.received(1);
    expect(setup.receiver.requests[0]?.headers).not.toHaveProperty('traceparent');

    // A header of the integration with this name has priority.
    setup.receiver.forget();
    await setup.service.call('PUT', `/api/v1/integrations/${id}`, { body: { headers: { traceparent: traceOf('5') } } });
    await send('6', 'POST', `${path}/test`);
    await setup.receiver.received(1);
    expect(setup.receiver.requests[0]?.headers['traceparent']).toBe(traceOf('5'));
  });
});
