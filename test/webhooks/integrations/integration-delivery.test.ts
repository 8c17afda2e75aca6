/** Tests the way from an order to the request that the receiver gets. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Webhook } from 'standardwebhooks';
import packageJson from '../../../package.json' with { type: 'json' };
import asyncapi from '../../../generated/asyncapi.json' with { type: 'json' };
import { ORDER_PLACED as isOrderPlaced } from '../../../dist/validators/events.js';
import { eventTypes } from '../../../generated/events.ts';
import { nodeReceiver, unwrap, type WebhookEvent } from '../../../clients/typescript/src/webhooks.ts';
import { fiscalDateAt } from '../../../src/orders/catalog/locations/fiscal-calendar.ts';
import { middayClock, openShop, placeOrder } from '../../orders/orders-harness.ts';
import { type ReceivedRequest } from '../../support/receiver.ts';
import { until } from '../../support/until.ts';
import type { Answer } from '../../support/service.ts';
import {
  createIntegration,
  eventually,
  nextSecret,
  publishedSchemas,
  secret,
  setUpIntegrations,
  standardHeaders,
} from './integrations-harness.ts';

const setup = setUpIntegrations();

const arrivedAt = (path: string): ReceivedRequest[] =>
  setup.receiver.requests.filter((request) => request.path === path);
const verifier = (key: string): Webhook => new Webhook(`whsec_${Buffer.from(key).toString('base64')}`);

describe('an order', () => {
  it('reaches a receiver that has subscribed, with signatures', async () => {
    setup.receiver.forget();
    const shop = await openShop(setup.service);
    const integration = await createIntegration(setup.service, {
      url: setup.receiver.url,
      secret,
      headers: { 'X-Kitchen': 'ground-floor', Authorization: 'Bearer EXAMPLE-not-a-real-token' },
    });
    const order = await placeOrder(setup.service, shop, { spot_id: shop.spot });
    const [request] = await setup.receiver.received(1);
    if (request === undefined) throw new Error('nothing arrived');

    expect(request).toMatchObject({ method: 'POST', path: '/hook' });
    expect(request.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': `Service-WebhookAgent/${packageJson.version}`,
      'x-service-event-type': 'ORDER_PLACED',
      'x-service-event-target-uuid': order.id,
      'x-service-event-target-id': order.id,
      'x-service-application-id': integration.id,
      'x-service-signature': createHmac('sha256', secret).update(request.body).digest('hex'),
      'x-kitchen': 'ground-floor',
      authorization: 'Bearer EXAMPLE-not-a-real-token',
    });
    const payload = verifier(secret).verify(request.body, standardHeaders(request));
    expect(payload).toEqual({
      type: 'ORDER_PLACED',
      targetUuid: order.id,
      targetId: order.id,
      createdAt: order.body.created_at,
      data: {
        itemNames: ['Flat white'],
        itemTags: ['coffee', 'hot'],
        spotName: 'Table 4',
        zoneName: 'Terrace',
        total: order.body.total,
        currency: 'EUR',
        locationId: shop.location.id,
        created: order.body.created_at,
        categoryNames: ['Hot drinks'],
      },
      id: request.headers['webhook-id'],
      locationUuid: shop.location.id,
      locationId: shop.location.id,
      locationName: 'Canal Café',
    });
    const specified = ['type', 'targetUuid', 'targetId', 'createdAt', 'data', 'id'];
    const place = ['locationUuid', 'locationId', 'locationName'];
    expect(Object.keys(payload as object)).toEqual([...specified, ...place]);
    expect(isOrderPlaced(payload)).toBe(true);
    expect(await unwrap(request.body, request.headers, secret)).toEqual(payload);
    const isHeaders = new Ajv2020().compile(asyncapi.components.schemas.DeliveryHeaders);
    expect(isHeaders(request.headers) || isHeaders.errors).toBe(true);

    const { body } = await eventually(
      setup.service,
      integration.deliveries,
      ({ data }) => data[0]?.status === 'delivered',
    );
    expect(body.data).toHaveLength(1);
    expect(body.data[0]).toMatchObject({
      event_id: request.headers['webhook-id'],
      event_type: 'ORDER_PLACED',
      integration_id: integration.id,
      attempt_count: 1,
    });
    const delivery = await setup.service.call('GET', `/api/v1/deliveries/${body.data[0].id}`);
    expect(delivery.body.body).toBe(request.body.toString());
  });

  it('has empty names of spot and zone if it has no spot, which a filter can ask for', async () => {
    setup.receiver.forget();
    const shop = await openShop(setup.service);
    const filter = { 'data.spotName': '', 'data.zoneName': { $in: ['', 'Bar'] } };
    await createIntegration(setup.service, {
      url: `${setup.receiver.url}/take-away`,
      event_types: ['ORDER_PLACED'],
      location_ids: [shop.location.id],
      filter,
    });
    await createIntegration(setup.service, { url: `${setup.receiver.url}/all`, location_ids: [shop.location.id] });
    const atTable = await placeOrder(setup.service, shop, { spot_id: shop.spot });
    const takeAway = await placeOrder(setup.service, shop);
    await until(
      () => setup.receiver.requests,
      (requests) => requests.length >= 3,
    );
    const ordersAt = (path: string): unknown[] =>
      arrivedAt(path).map(({ headers }) => headers['x-service-event-target-id']);
    expect(ordersAt('/hook/take-away')).toEqual([takeAway.id]);
    expect(new Set(ordersAt('/hook/all'))).toEqual(new Set([atTable.id, takeAway.id]));
    const [request] = arrivedAt('/hook/take-away');
    const { data } = JSON.parse(String(request?.body)) as { data: object };
    expect(data).toMatchObject({ spotName: '', zoneName: '' });
    const specified = ['itemNames', 'itemTags', 'spotName', 'total', 'currency', 'zoneName'];
    expect(Object.keys(data).slice(0, specified.length)).toEqual(specified);
  });

  it('is signed with the bytes of a secret of Standard Webhooks', async () => {
    setup.receiver.forget();
    const key = Buffer.from(Array.from({ length: 32 }, (_, index) => 255 - index));
    const standard = `whsec_${key.toString('base64')}`;
    await createIntegration(setup.service, { url: `${setup.receiver.url}/standard`, secret: standard });
    await placeOrder(setup.service, await openShop(setup.service));
    const request = (await until(
      () => setup.receiver.requests.find(({ path }) => path === '/hook/standard'),
      (found) => found !== undefined,
    )) as ReceivedRequest;
    expect(new Webhook(standard).verify(request.body, standardHeaders(request))).toMatchObject({
      type: 'ORDER_PLACED',
    });
    expect(await unwrap(request.body, request.headers, standard)).toMatchObject({ type: 'ORDER_PLACED' });
    const signature = createHmac('sha256', key).update(request.body).digest('hex');
    expect(request.headers['x-service-signature']).toBe(signature);
  });

  it('is sent to a URL that ends with a question mark as to that', async () => {
    const { path } = await createIntegration(setup.service, { url: `${setup.receiver.url}/question?` });
    await setup.service.call('POST', `${path}/test`);
    await until(
      () => arrivedAt('/hook/question?'),
      ({ length }) => length === 1,
    );
  });

  it('does not reach a receiver that has not subscribed to its type', async () => {
    setup.receiver.forget();
    const shop = await openShop(setup.service);
    const board = await createIntegration(setup.service, { url: setup.receiver.url, event_types: ['PRODUCT_UPDATED'] });
    const till = await createIntegration(setup.service, { url: setup.receiver.url, event_types: ['ORDER_PLACED'] });
    await placeOrder(setup.service, shop);
    await setup.service.call('PUT', `/v1/products/${shop.pie.id}`, { body: { price: 380 } });
    await eventually(setup.service, board.deliveries, ({ data }) => data[0]?.status === 'delivered');
    await eventually(setup.service, till.deliveries, ({ data }) => data[0]?.status === 'delivered');
    const typesOf = ({ id }: { id: string }): unknown[] =>
      setup.receiver.requests
        .filter(({ headers }) => headers['x-service-application-id'] === id)
        .map(({ headers }) => headers['x-service-event-type']);
    expect(typesOf(board)).toEqual(['PRODUCT_UPDATED']);
    expect(typesOf(till)).toEqual(['ORDER_PLACED']);
  });

  it('is not signed for an integration without a secret', async () => {
    setup.receiver.forget();
    const unsigned = await createIntegration(setup.service, { url: `${setup.receiver.url}/unsigned` });
    await placeOrder(setup.service, await openShop(setup.service));
    await eventually(setup.service, unsigned.deliveries, ({ data }) => data[0]?.status === 'delivered');
    const request = setup.receiver.requests.find(({ path }) => path === '/hook/unsigned');
    expect(request?.headers['webhook-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(request?.headers).not.toHaveProperty('webhook-signature');
    expect(request?.headers).not.toHaveProperty('x-service-signature');
  });
});

describe('a delivery', () => {
  it('is refused by receivers when any part of it was changed', async () => {
    const { path, deliveries } = await createIntegration(setup.service, {
      url: `${setup.receiver.url}/changed`,
      secret,
    });
    await setup.service.call('POST', `${path}/test`);
    await eventually(setup.service, deliveries, ({ data }) => data[0]?.status === 'delivered');
    const [{ body, headers } = {}] = arrivedAt('/hook/changed');
    if (body === undefined || headers === undefined) throw new Error('nothing arrived');
    const changed = (name: string, change: (value: string) => string): Record<string, string> => ({
      ...headers,
      [name]: change(headers[name] ?? ''),
    });
    const later = { now: () => Date.now() + 301_000 };
    const refusals: [string, Promise<unknown>][] = [
      ['wrong-signature', unwrap(body.toString().replace('TEST', 'TEXT'), headers, secret)],
      [
        'wrong-signature',
        unwrap(
          body,
          changed('webhook-id', (id) => id.replace(/.$/, 'g')),
          secret,
        ),
      ],
      [
        'wrong-signature',
        unwrap(
          body,
          changed('webhook-timestamp', (time) => String(Number(time) + 1)),
          secret,
        ),
      ],
      [
        'wrong-signature',
        unwrap(
          body,
          changed('webhook-signature', (value) => value.replace('v1', 'v1a')),
          secret,
        ),
      ],
      [
        'disagreement',
        unwrap(
          body,
          changed('x-service-signature', (hex) => hex.replace(/^./, 'g')),
          secret,
        ),
      ],
      ['wrong-signature', unwrap(body, headers, nextSecret)],
      ['outside-tolerance', unwrap(body, headers, secret, later)],
    ];
    for (const [code, refusal] of refusals) await expect(refusal).rejects.toMatchObject({ code });
    expect(await unwrap(body, headers, secret)).toMatchObject({ type: 'TEST', id: headers['webhook-id'] });
  });

  it('reaches the handler of a receiver, whose answer settles the delivery', async () => {
    const events: WebhookEvent[] = [];
    const failures: unknown[] = [];
    const receive = nodeReceiver({ secrets: secret, onError: (error) => failures.push(error) }, (event) => {
      events.push(event);
      if (events.length > 1) throw new Error('no space');
    });
    const server = createServer((request, response) => void receive(request, response))
      .listen(0, '127.0.0.1')
      .unref();
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { path } = await createIntegration(setup.service, { url: `http://127.0.0.1:${port}`, secret });
    const attempt = async (): Promise<Answer['body']> => {
      const { body } = await setup.service.call('POST', `${path}/test`);
      const isTried = ({ data }: Answer['body']): boolean => data.length > 0;
      const attempts = await eventually(setup.service, `/api/v1/deliveries/${body.id}/attempts`, isTried);
      return attempts.body.data[0];
    };
    expect(await attempt()).toMatchObject({ status_code: 204 });
    expect(await attempt()).toMatchObject({ status_code: 500 });
    server.closeAllConnections();
    server.close();
    expect(events.map(({ type }) => type)).toEqual(['TEST', 'TEST']);
    expect(failures).toEqual([new Error('no space')]);
  });

  it('of each type matches the schema that the service publishes', async () => {
    const validatorOf = await publishedSchemas(setup.service);
    // The events of budgets, receivers and prompts have tests of their own.
    const types = eventTypes.filter((type) => !/^(BUDGET|INTEGRATION|PROMPT)/.test(type));
    const { path, deliveries } = await createIntegration(setup.service, {
      url: `${setup.receiver.url}/all`,
      secret,
      event_types: types.filter((type) => type !== 'TEST'),
    });
    const { fiscal_day_end, time_zone } = middayClock(new Date());
    const shop = await openShop(setup.service, { fiscal_day_end, time_zone });
    const [first, second] = [await placeOrder(setup.service, shop), await placeOrder(setup.service, shop)];
    await setup.service.call('POST', `/v1/orders/${first.id}/complete`);
    await setup.service.call('POST', `/v1/orders/${second.id}/cancel`);
    await setup.service.call('PUT', `/v1/products/${shop.pie.id}`, { body: { price: 390 } });
    await setup.service.call('POST', `${path}/test`);
    const today = fiscalDateAt(new Date(), { fiscalDayEnd: fiscal_day_end, timeZone: time_zone });
    await setup.service.call('POST', `/v1/locations/${shop.location.id}/fiscal-days/${today}/close`);
    await eventually(
      setup.service,
      `${deliveries}&status=delivered`,
      ({ pagination }) => pagination.total === types.length + 1,
    );
    const events = await Promise.all(arrivedAt('/hook/all').map(({ body, headers }) => unwrap(body, headers, secret)));
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(types));
    for (const event of events) {
      const isValid = validatorOf(String(event.type));
      expect([isValid(event), isValid.errors]).toEqual([true, null]);
      expect(isValid({ ...event, data: undefined })).toBe(false);
    }
  });
});

describe('during a secret rotation', () => {
  it('deliveries verify with both secrets; afterwards only with the new one', async () => {
    const { path } = await createIntegration(setup.service, { url: `${setup.receiver.url}/rotated`, secret });
    const next = async (): Promise<ReceivedRequest> => {
      setup.receiver.forget();
      await setup.service.call('POST', `${path}/test`);
      const [request] = await setup.receiver.received(1);
      if (request === undefined) throw new Error('nothing arrived');
      return request;
    };
    const verify = (request: ReceivedRequest, key: string): unknown =>
      verifier(key).verify(request.body, standardHeaders(request));
    const hex = (key: string, { body }: ReceivedRequest): string =>
      createHmac('sha256', key).update(body).digest('hex');

    const begun = await setup.service.call('POST', `${path}/secret/rotation`, { body: { secret: nextSecret } });
    const during = await next();
    expect(during.headers['webhook-signature']?.split(' ')).toHaveLength(2);
    expect(verify(during, secret)).toEqual(verify(during, nextSecret));
    for (const known of [secret, nextSecret, [nextSecret, secret]]) {
      expect(await unwrap(during.body, during.headers, known)).toEqual(verify(during, secret));
    }
    expect(during.headers['x-service-signature']).toBe(hex(secret, during));

    const rotation_id: unknown = begun.body.secret_rotation.id;
    await setup.service.call('POST', `${path}/secret/rotation/finish`, { body: { rotation_id } });
    const after = await next();
    expect(after.headers['webhook-signature']?.split(' ')).toHaveLength(1);
    expect(() => verify(after, secret)).toThrow();
    expect(verify(after, nextSecret)).toMatchObject({ type: 'TEST' });
    expect(await unwrap(after.body, after.headers, [secret, nextSecret])).toEqual(verify(after, nextSecret));
    await expect(unwrap(after.body, after.headers, secret)).rejects.toMatchObject({ code: 'wrong-signature' });
    expect(after.headers['x-service-signature']).toBe(hex(nextSecret, after));
  });
});
