import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { toStandardSecret } from '../../src/webhooks/integrations/signing-secret.ts';
import { deliveryHeaders } from '../../src/webhooks/sending/delivery-headers.ts';
import { signatureHeaders } from '../../src/webhooks/sending/signatures.ts';

const secret = 'EXAMPLE-not-a-real-secret-0123456789';
const nextSecret = 'EXAMPLE ~ another secret, with blanks!';
const body = Buffer.from('{"type":"TEST","createdAt":"2026-11-06T08:30:00.000Z","data":{"name":"Café"}}');

function sign(message: { body: Uint8Array; timestamp?: number }, keys: { secret?: string; nextSecret?: string }) {
  const { timestamp = 1_793_968_268 } = message;
  const pairs = signatureHeaders(
    { id: '2f9a7c54-8e01-4d63-b7a2-5c1d0e9f8b36', timestamp, body: message.body },
    { secret: keys.secret, nextSecret: keys.nextSecret },
  );
  return Object.fromEntries(pairs);
}

describe('X-Service-Signature', () => {
  it.each([
    [
      'RFC 4231, test case 2',
      'Jefe',
      'what do ya want for nothing?',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    // echo -n '{"a":1}' | openssl dgst -sha256 -hmac EXAMPLE-not-a-real-secret-0123456789
    ['openssl', secret, '{"a":1}', 'abb337041c4896bbe8c526be56df6d97db8baa1f5d6d817fede2c6f4a74ec2d1'],
  ])('is the hex HMAC-SHA-256 of the body: %s', (_source, key, text, expected) => {
    expect(sign({ body: Buffer.from(text) }, { secret: key })['X-Service-Signature']).toBe(expected);
  });

  it('uses the current secret during a rotation', () => {
    const expected = createHmac('sha256', secret).update(body).digest('hex');
    expect(sign({ body }, { secret, nextSecret })['X-Service-Signature']).toBe(expected);
  });

  it('is absent until the first secret is in force', () => {
    expect(sign({ body }, { nextSecret })).not.toHaveProperty('X-Service-Signature');
  });
});

describe('Standard Webhooks', () => {
  // { printf '2f9a7c54-8e01-4d63-b7a2-5c1d0e9f8b36.1793968268.{"a":1}'; } | openssl dgst -sha256 -hmac … -binary | base64
  it('signs id, time and body', () => {
    expect(sign({ body: Buffer.from('{"a":1}') }, { secret })['webhook-signature']).toBe(
      'v1,TyQWr9zTfSdXm/++F2L3CjJjk/LhyG0+PbhEZI5CebA=',
    );
  });

  it.each([
    ['the only secret', { secret }, [secret]],
    ['either secret of a rotation', { secret, nextSecret }, [secret, nextSecret]],
    ['a first secret that is not in force yet', { nextSecret }, [nextSecret]],
  ])('verifies with %s', (_name, keys, verifiers) => {
    const headers = sign({ body, timestamp: Math.floor(Date.now() / 1_000) }, keys);
    for (const key of verifiers) {
      expect(new Webhook(toStandardSecret(key)).verify(body, headers)).toEqual(JSON.parse(String(body)));
    }
    expect(() => new Webhook(toStandardSecret(secret.toLowerCase())).verify(body, headers)).toThrow('No matching');
    expect(() => new Webhook(toStandardSecret(secret)).verify(`${String(body)} `, headers)).toThrow('No matching');
  });

  it('sends id and time without a secret, and no signature', () => {
    expect(Object.keys(sign({ body }, {}))).toEqual(['webhook-id', 'webhook-timestamp']);
  });
});

describe('deliveryHeaders', () => {
  const message = { eventId: 'event', eventType: 'TEST', targetId: 'cat_5f0c2a9be1d84736a8c15e7d90b3f264', body };
  const context = {
    integrationId: 'app',
    custom: [],
    secrets: { secret: undefined, nextSecret: undefined },
    version: '1',
  };
  const at = new Date('2026-11-06T12:31:08.999Z');

  it('contains what the specification lists, and the time of the attempt in whole seconds', () => {
    const targetId = 'c81e4a97-3d5b-4062-9f7a-e12b6d80c5f4';
    expect(deliveryHeaders({ ...message, targetId }, context, at)).toEqual([
      ...['Content-Type', 'application/json'],
      ...['User-Agent', 'Service-WebhookAgent/1'],
      ...['X-Service-Event-Type', 'TEST'],
      ...['X-Service-Event-Target-UUID', targetId],
      ...['X-Service-Event-Target-ID', targetId],
      ...['X-Service-Application-ID', 'app'],
      ...['webhook-id', 'event'],
      ...['webhook-timestamp', '1793968268'],
    ]);
  });

  it('has only the id of a target that is not a UUID', () => {
    const headers = deliveryHeaders({ ...message, targetId: 'cat_5f0c2a9be1d84736a8c15e7d90b3f264' }, context, at);
    expect(headers).not.toContain('X-Service-Event-Target-UUID');
    expect(headers.join(' ')).toContain('X-Service-Event-Target-ID cat_5f0c2a9be1d84736a8c15e7d90b3f264');
  });

  it('accepts any custom name, even that of an object member', () => {
    const custom = [{ name: '__proto__', value: 'x' }];
    expect(deliveryHeaders(message, { ...context, custom }, at).slice(0, 2)).toEqual(['__proto__', 'x']);
  });
});
