import { once } from 'node:events';
import { createServer, request as httpRequest, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import { Webhook } from 'standardwebhooks';
import {
  expressReceiver,
  fetchReceiver,
  nodeReceiver,
  signForTest,
  unwrap,
  WebhookVerificationError,
  type DeliveryHeaders,
  type KnownEvents,
  type ReceiverOptions,
  type UnwrapOptions,
  type WebhookEvent,
} from '../../clients/typescript/src/webhooks.ts';

const secret = 'EXAMPLE-not-a-real-secret-0123456789';
const nextSecret = 'EXAMPLE-not-a-real-secret-9876543210';
const whsec = `whsec_${Buffer.from(secret).toString('base64')}`;
const at = new Date('2026-11-06T12:31:08.900Z');
const now = (): number => at.getTime();
const event = {
  type: 'PRODUCT_UPDATED',
  targetUuid: 'd27a6f13-90e4-4b58-8c3a-6b1f5e0d7c92',
  targetId: 'd27a6f13-90e4-4b58-8c3a-6b1f5e0d7c92',
  createdAt: '2026-11-06T12:31:08.214Z',
  data: {},
  id: 'b8150d3e-6f94-4a72-8c1d-e7a05f9b2c46',
  locationUuid: '3b8e5d1c-7a42-4f96-9c0d-2e6f81b4a753',
  locationId: '3b8e5d1c-7a42-4f96-9c0d-2e6f81b4a753',
} as const;

let body: string;
let headers: Record<string, string>;
beforeEach(async () => {
  ({ body, headers } = await signForTest(event, secret, { at }));
});

/** A copy of the headers with some of them changed or removed. */
function withHeaders(changes: Record<string, string | undefined>): DeliveryHeaders {
  return { ...headers, ...changes };
}

/** The reason why a delivery is refused. No message contains a secret. */
async function refusal(
  rawBody: string,
  given: DeliveryHeaders,
  secrets: string | string[] = secret,
  options: UnwrapOptions = {},
): Promise<string> {
  const error: unknown = await unwrap(rawBody, given, secrets, { now, ...options }).catch((reason: unknown) => reason);
  if (!(error instanceof WebhookVerificationError)) throw new Error(`not refused: ${JSON.stringify(error)}`);
  expect(error.message).toMatch(/^[A-Zw][^\n]+\.$/);
  expect(error.message).not.toContain('EXAMPLE');
  return error.code;
}

describe('unwrap', () => {
  it.each([
    ['text', (text: string) => text],
    ['a Buffer', (text: string) => Buffer.from(text)],
    ['bytes', (text: string) => new TextEncoder().encode(text)],
    ['an ArrayBuffer', (text: string) => new TextEncoder().encode(text).buffer],
  ])('returns the event of a body that is %s', async (_what, convert) => {
    expect(await unwrap(convert(body), headers, secret, { now })).toEqual(event);
  });

  it.each<[string, (plain: Record<string, string>) => DeliveryHeaders]>([
    ['a Headers', (plain) => new Headers(plain)],
    ['those of Node', (plain) => ({ ...plain, 'set-cookie': ['a', 'b'] })],
    ['a plain object in another case', (plain) => mapNames(plain, (name) => name.toUpperCase())],
    ['a plain object of arrays', (plain) => Object.fromEntries(Object.entries(plain).map(([k, v]) => [k, [v]]))],
  ])('takes headers that are %s', async (_what, convert) => {
    expect(await unwrap(body, convert(headers), secret, { now })).toEqual(event);
  });

  it.each<[string, string | string[]]>([
    ['in the whsec_ spelling', whsec],
    ['among others', [nextSecret, whsec]],
    ['twice', [secret, whsec]],
  ])('takes the secret %s', async (_what, secrets) => {
    expect(await unwrap(body, headers, secrets, { now })).toEqual(event);
  });

  it('accepts text outside ASCII, in the body and in the secret', async () => {
    const signed = await signForTest({ ...event, locationName: 'Café ☕' }, 'sécret-☕', { at });
    expect(await unwrap(signed.body, signed.headers, 'sécret-☕', { now })).toMatchObject({
      locationName: 'Café ☕',
    });
  });

  it('returns an event of an unknown type unchanged', async () => {
    const later = JSON.stringify({ ...event, type: 'ORDER_REFUNDED', data: { amount: 5 }, later: true });
    const signed = await signForTest(later, secret, { at });
    expect(await unwrap(signed.body, signed.headers, secret, { now })).toEqual(JSON.parse(later));
  });
});

describe('unwrap refuses', () => {
  it.each([
    ['another body', (text: string) => text.replace('2026', '2027')],
    ['a body that was serialised again', (text: string) => JSON.stringify(JSON.parse(text), null, 1)],
    ['a longer body', (text: string) => `${text} `],
    ['a shorter body', (text: string) => text.slice(0, -1)],
    ['no body', () => ''],
  ])('%s', async (_what, change) => {
    expect(await refusal(change(body), headers)).toBe('wrong-signature');
    expect(
      await refusal(change(body), withHeaders({ 'webhook-signature': undefined }), secret, { tolerance: Infinity }),
    ).toBe('wrong-signature');
  });

  it.each<[string, Record<string, string | undefined>, string]>([
    ['another id', { 'webhook-id': '00000000-6f94-4a72-8c1d-e7a05f9b2c46' }, 'wrong-signature'],
    ['another time', { 'webhook-timestamp': '1793968269' }, 'wrong-signature'],
    ['no id', { 'webhook-id': undefined }, 'malformed-headers'],
    ['an empty id', { 'webhook-id': '' }, 'malformed-headers'],
    ['no time', { 'webhook-timestamp': undefined }, 'malformed-headers'],
    ['a time that is not an integer', { 'webhook-timestamp': '1793968268.5' }, 'malformed-headers'],
    ['an empty signature', { 'webhook-signature': '' }, 'wrong-signature'],
    ['only a scheme', { 'webhook-signature': 'v1,' }, 'wrong-signature'],
    ['no signature at all', { 'webhook-signature': undefined, 'x-service-signature': undefined }, 'unsigned'],
    ['another X-Service-Signature', { 'x-service-signature': '0'.repeat(64) }, 'disagreement'],
    ['X-Service-Signature alone', { 'webhook-signature': undefined }, 'no-signed-time'],
  ])('%s', async (_what, changes, code) => {
    expect(await refusal(body, withHeaders(changes))).toBe(code);
  });

  it('a signature with the name or form of the other scheme', async () => {
    const { 'webhook-signature': standard = '', 'x-service-signature': service = '' } = headers;
    const hex = Buffer.from(standard.slice(3), 'base64').toString('hex');
    const base64 = Buffer.from(service, 'hex').toString('base64');
    for (const other of [service, `v1,${base64}`, `v1,${hex}`, `v2,${standard.slice(3)}`, standard.slice(3)]) {
      expect(await refusal(body, withHeaders({ 'webhook-signature': other }))).toBe('wrong-signature');
    }
    for (const other of [standard, hex, base64, service.toUpperCase()]) {
      const alone = withHeaders({ 'webhook-signature': undefined, 'x-service-signature': other });
      expect(await refusal(body, alone, secret, { tolerance: Infinity })).toBe('wrong-signature');
    }
  });

  it.each<[string, string | string[]]>([
    ['another secret', nextSecret],
    ['other secrets', [nextSecret, `${secret} `]],
    ['the base64 text of a whsec_ secret', Buffer.from(secret).toString('base64')],
  ])('%s', async (_what, secrets) => {
    expect(await refusal(body, headers, secrets)).toBe('wrong-signature');
  });

  it('a time outside the tolerance, too early or too late', async () => {
    const attempted = Math.floor(at.getTime() / 1_000);
    const opens = async (seconds: number, tolerance?: number): Promise<boolean> => {
      const options = { now: () => (attempted + seconds) * 1_000, ...(tolerance === undefined ? {} : { tolerance }) };
      return unwrap(body, headers, secret, options).then(
        () => true,
        (error: WebhookVerificationError) => {
          expect(error.code).toBe('outside-tolerance');
          return false;
        },
      );
    };
    for (const sign of [1, -1]) {
      expect([await opens(300 * sign), await opens(301 * sign)]).toEqual([true, false]);
      expect([await opens(10 * sign, 10), await opens(11 * sign, 10)]).toEqual([true, false]);
      expect(await opens(1e6 * sign, Infinity)).toBe(true);
    }
  });

  it('a signed body that is not an event', async () => {
    for (const text of [
      '',
      '[]',
      'null',
      '"TEST"',
      '{"id":"x"}',
      '{"type":1}',
      '{"type":"TEST"',
      '{"type":"TEST","id":5}',
    ]) {
      const signed = await signForTest(text, secret, { at, id: 'x' });
      expect([text, await refusal(signed.body, signed.headers)]).toEqual([text, 'malformed-payload']);
    }
  });

  it('an id in the header that differs from the id in the body, if only X-Service-Signature is sent', async () => {
    const alone = withHeaders({ 'webhook-signature': undefined, 'webhook-id': 'another' });
    expect(await refusal(body, alone, secret, { tolerance: Infinity })).toBe('disagreement');
  });
});

describe('X-Service-Signature alone', () => {
  it('is accepted if any time is allowed', async () => {
    for (const left of ['webhook-signature', 'webhook-timestamp', 'webhook-id']) {
      const { 'webhook-signature': _, [left]: __, ...others } = headers;
      expect(await unwrap(body, others, [nextSecret, whsec], { tolerance: Infinity })).toEqual(event);
    }
  });
});

describe('during a secret rotation', () => {
  it('the old secret, the new one and both verify; afterwards only the new one', async () => {
    const during = await signForTest(event, [secret, nextSecret], { at });
    for (const secrets of [secret, nextSecret, [secret, nextSecret], [nextSecret, secret]]) {
      expect(await unwrap(during.body, during.headers, secrets, { now })).toEqual(event);
    }
    const after = await signForTest(event, nextSecret, { at });
    expect(await unwrap(after.body, after.headers, [secret, nextSecret], { now })).toEqual(event);
    expect(await refusal(after.body, after.headers, secret)).toBe('wrong-signature');
  });
});

describe('a mistake of the receiver', () => {
  it.each<[string, unknown]>([
    ['no secret', []],
    ['an empty secret', ''],
    ['an empty secret among others', [secret, '']],
    ['a secret that is missing', undefined],
    ['a secret that is not base64', 'whsec_EXAMPLE-*'],
    ['an empty secret in base64', 'whsec_'],
  ])('is a TypeError, not a refusal: %s', async (_what, secrets) => {
    const error: unknown = await unwrap(body, headers, secrets as string, { now }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).not.toContain('EXAMPLE');
    expect(() => nodeReceiver({ secrets: secrets as string }, () => undefined)).toThrow(TypeError);
    expect(() => fetchReceiver({ secrets: secrets as string }, () => undefined)).toThrow(TypeError);
  });

  it('is a TypeError when the body was parsed before', async () => {
    await expect(unwrap(JSON.parse(body) as string, headers, secret, { now })).rejects.toThrow(TypeError);
  });
});

describe('signForTest', () => {
  it('signs in a way that other Standard Webhooks libraries verify', async () => {
    const signed = await signForTest(event, whsec);
    expect(new Webhook(whsec).verify(signed.body, signed.headers)).toEqual(event);
  });

  it('returns the headers of a delivery', async () => {
    expect(headers).toEqual({
      'content-type': 'application/json',
      'user-agent': 'Service-WebhookAgent/test',
      'x-service-event-type': 'PRODUCT_UPDATED',
      'x-service-event-target-uuid': event.targetUuid,
      'x-service-event-target-id': event.targetId,
      'x-service-application-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'x-service-signature': expect.stringMatching(/^[0-9a-f]{64}$/),
      'webhook-id': event.id,
      'webhook-timestamp': '1793968268',
      'webhook-signature': expect.stringMatching(/^v1,/),
    });
    const category = await signForTest(
      {
        type: 'CATEGORY_UPDATED',
        targetUuid: null,
        targetId: 'cat_5f0c2a9be1d84736a8c15e7d90b3f264',
        createdAt: event.createdAt,
        data: { cause: { type: 'CATEGORY_UPDATED' }, locationId: event.locationId },
      },
      secret,
    );
    expect(category.headers).not.toHaveProperty('x-service-event-target-uuid');
    expect(category.headers['x-service-event-target-id']).toBe('cat_5f0c2a9be1d84736a8c15e7d90b3f264');
    expect(JSON.parse(category.body)).toMatchObject({ id: category.headers['webhook-id'] });
  });
});

/** A receiver that listens. The tests run on every kind of receiver. */
interface Listening {
  readonly url: string;
  readonly close: () => Promise<void>;
}

async function listen(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

type Send = (init: RequestInit) => Promise<Response>;
interface Kind {
  readonly send: Send;
  readonly close?: () => Promise<void>;
}

const kinds: Record<string, (options: ReceiverOptions, handler: (event: WebhookEvent) => unknown) => Promise<Kind>> = {
  async 'node:http'(options, handler) {
    const receive = nodeReceiver(options, handler);
    const { url, close } = await listen((request, response) => void receive(request, response));
    return { send: (init) => fetch(url, init), close };
  },
  async Express(options, handler) {
    const application = express();
    application.all('/hooks', expressReceiver(options, handler));
    const { url, close } = await listen(application);
    return { send: (init) => fetch(url, init), close };
  },
  async 'Express after express.raw()'(options, handler) {
    const application = express();
    application.use(express.raw({ type: 'application/json', limit: '16mb' }));
    application.all('/hooks', expressReceiver(options, handler));
    const { url, close } = await listen(application);
    return { send: (init) => fetch(url, init), close };
  },
  fetch(options, handler) {
    const receive = fetchReceiver(options, handler);
    return Promise.resolve({ send: (init) => receive(new Request('https://receiver.example.com/hooks', init)) });
  },
};

describe.each(Object.keys(kinds))('a receiver of %s', (name) => {
  let kind: Kind | undefined;
  let handled: WebhookEvent[];
  let errors: unknown[];
  let handle: () => unknown;
  beforeAll(async () => {
    const options: ReceiverOptions = {
      secrets: [nextSecret, secret],
      now,
      maxBodyBytes: 2_000,
      onError: (error) => void errors.push(error),
    };
    kind = await kinds[name]?.(options, (received) => {
      handled.push(received);
      return handle();
    });
  });
  beforeEach(() => {
    handled = [];
    errors = [];
    handle = () => undefined;
  });
  afterAll(() => kind?.close?.());
  const send = async (init: RequestInit): Promise<[status: number, text: string, headers: Headers]> => {
    const answer = await kind?.send({ method: 'POST', headers, ...init });
    if (answer === undefined) throw new Error(`no ${name}`);
    return [answer.status, await answer.text(), answer.headers];
  };

  it('answers 204 after the handler has ended', async () => {
    let isDone = false;
    handle = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      isDone = true;
    };
    expect((await send({ body })).slice(0, 2)).toEqual([204, '']);
    expect([isDone, handled, errors]).toEqual([true, [event], []]);
  });

  it('passes an event that arrives twice to the handler twice, with the same id', async () => {
    await Promise.all([send({ body }), send({ body })]);
    expect(handled.map(({ id }) => id)).toEqual([event.id, event.id]);
  });

  it('answers 400 with the reason to an invalid signature, and calls no handler', async () => {
    const [status, text] = await send({ body: `${body} ` });
    expect([status, text]).toEqual([400, expect.stringContaining('webhook-signature was made with another secret')]);
    expect([handled, errors]).toEqual([[], [expect.any(WebhookVerificationError)]]);
    expect((await send({ headers: {}, body }))[0]).toBe(400);
    expect((await send({}))[0]).toBe(400);
  });

  it('answers 500 without detail when the handler throws, so that the event is sent again', async () => {
    for (const failure of [() => Promise.reject(new Error('no space: EXAMPLE')), () => JSON.parse('{') as unknown]) {
      handle = failure;
      expect((await send({ body })).slice(0, 2)).toEqual([500, 'The receiver failed.']);
    }
    expect(errors).toEqual([new Error('no space: EXAMPLE'), expect.any(SyntaxError)]);
  });

  it('answers 413 to a body above its limit, with or without Content-Length', async () => {
    const long = 'x'.repeat(2_001);
    // A stream has no known length.
    const stream = {
      body: new Blob(Array.from({ length: 3 }, () => 'x'.repeat(1_000))).stream(),
      duplex: 'half' as const,
    };
    for (const init of [{ body: long }, stream]) expect((await send(init))[0]).toBe(413);
    expect(handled).toEqual([]);
  });

  it('answers 405 to other methods', async () => {
    const [status, , answered] = await send({ method: 'GET' });
    expect([status, answered.get('allow')]).toEqual([405, 'POST']);
  });
});

describe('a receiver of Node', () => {
  it('explains the error when the body was parsed before', async () => {
    const errors: unknown[] = [];
    const application = express();
    application.use(express.json());
    const options = { secrets: secret, now, onError: (error: unknown) => void errors.push(error) };
    application.post(
      '/hooks',
      expressReceiver(options, () => undefined),
    );
    const { url, close } = await listen(application);
    const { status } = await fetch(url, { method: 'POST', headers, body });
    await close();
    expect([status, String(errors)]).toEqual([
      500,
      expect.stringContaining('Mount the receiver before express.json()'),
    ]);
  });

  it('takes the raw body that a host keeps beside the parsed body', async () => {
    const application = express();
    application.use(express.json({ verify: (request, _response, raw) => Object.assign(request, { rawBody: raw }) }));
    application.post(
      '/hooks',
      expressReceiver({ secrets: secret, now }, () => undefined),
    );
    const { url, close } = await listen(application);
    const { status } = await fetch(url, { method: 'POST', headers, body });
    await close();
    expect(status).toBe(204);
  });

  it('ends when the sender disconnects in the middle', async () => {
    const errors: unknown[] = [];
    let ended: Promise<void> | undefined;
    const receive = nodeReceiver(
      { secrets: secret, now, onError: (error) => void errors.push(error) },
      () => undefined,
    );
    const { url, close } = await listen((request, response) => {
      ended = receive(request, response);
      request.once('data', () => sent.destroy());
    });
    const sent = httpRequest(url, { method: 'POST', headers: { ...headers, 'content-length': body.length } });
    const gone = new Promise((resolve) => sent.on('error', resolve));
    sent.write(body.slice(0, 10));
    await gone;
    await ended;
    await close();
    expect(String(errors)).toContain('closed before the body was complete');
  });
});

describe('types of events', () => {
  it('are narrowed by `type`', () => {
    const total = (received: WebhookEvent): number | string => {
      switch (received.type) {
        case 'ORDER_PLACED':
          return received.data.total;
        case 'CATEGORY_UPDATED':
          return received.targetId;
        // @ts-expect-error a type that the contract does not have
        case 'ORDER_PLACD':
          return 0;
        default:
          // @ts-expect-error a test event has no total
          return (received.data.total as undefined) ?? String(received.type);
      }
    };
    expect(total({ ...event, type: 'ORDER_REFUNDED', data: {} } as unknown as WebhookEvent)).toBe('ORDER_REFUNDED');
  });

  it('have the fields of the contract, and an id', () => {
    const { id, ...withoutId } = event;
    const { locationId, ...withoutPlace } = event;
    // @ts-expect-error unwrap gives every event an id
    const nameless: KnownEvents['PRODUCT_UPDATED'] = withoutId;
    // @ts-expect-error the location is in every event of a product
    const placeless: KnownEvents['PRODUCT_UPDATED'] = withoutPlace;
    // @ts-expect-error a test cannot use an event that the service would not send
    const wrong = (): unknown => signForTest({ ...event, locationName: 5 }, secret);
    // @ts-expect-error before narrowing, only the fields of all events exist
    const unknown = (received: WebhookEvent): unknown => received.data.total;
    expect([id, nameless, locationId, placeless, wrong, unknown]).toHaveLength(6);
  });
});

function mapNames(plain: Record<string, string>, map: (name: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(plain).map(([name, value]) => [map(name), value]));
}
