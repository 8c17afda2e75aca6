import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { toStandardSecret } from '../../src/webhooks/integrations/signing-secret.ts';
import { deliveryHeaders, keptHeaders, settingsHeaders } from '../../src/webhooks/sending/delivery-headers.ts';
import { signatureHeaders } from '../../src/webhooks/sending/signatures.ts';

const secret = 'EXAMPLE-not-a-real-secret-0123456789';
const nextSecret = 'EXAMPLE ~ another secret, with blanks!';
const body = Buffer.from('{"type":"TEST","createdAt":"2026-11-06T08:30:00.000Z","data":{"name":"Café"}}');

function sign(
  message: { body: Uint8Array; timestamp?: number },
  keys: { secret?: string; nextSecret?: string },
): Record<string, string> {
  const { timestamp = 1_793_968_268 } = message;
  const id = '2f9a7c54-8e01-4d63-b7a2-5c1d0e9f8b36';
  const { secret: current, nextSecret: next } = keys;
  const signed = signatureHeaders({ id, timestamp, body: message.body }, { secret: current, nextSecret: next });
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), ...Object.fromEntries(signed) };
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

  it('are absent without a secret', () => {
    expect(signatureHeaders({ id: 'event', timestamp: 0, body }, { secret: undefined, nextSecret: undefined })).toEqual(
      [],
    );
  });
});

describe('deliveryHeaders', () => {
  const targetId = 'cat_5f0c2a9be1d84736a8c15e7d90b3f264';
  const message = { integrationId: 'app', eventId: 'event', eventType: 'TEST', targetId, body };
  const context = { custom: [], secrets: { secret: undefined, nextSecret: undefined }, version: '1' };
  const at = new Date('2026-11-06T12:31:08.999Z');
  const headersOf = (content: typeof message, settings: Parameters<typeof settingsHeaders>[1] = context) =>
    deliveryHeaders(settingsHeaders(content, settings, at), content, at);

  it('contains what the specification lists, and the time of the attempt in whole seconds', () => {
    const uuid = 'c81e4a97-3d5b-4062-9f7a-e12b6d80c5f4';
    expect(headersOf({ ...message, targetId: uuid })).toEqual([
      ...['User-Agent', 'Service-WebhookAgent/1'],
      ...['Content-Type', 'application/json'],
      ...['X-Service-Event-Type', 'TEST'],
      ...['X-Service-Event-Target-UUID', uuid],
      ...['X-Service-Event-Target-ID', uuid],
      ...['X-Service-Application-ID', 'app'],
      ...['webhook-id', 'event'],
      ...['webhook-timestamp', '1793968268'],
    ]);
  });

  it('has only the id of a target that is not a UUID', () => {
    const headers = headersOf(message);
    expect(headers).not.toContain('X-Service-Event-Target-UUID');
    expect(headers.join(' ')).toContain(`X-Service-Event-Target-ID ${targetId}`);
  });

  it('accepts any custom name, even that of an object member', () => {
    const custom = [{ name: '__proto__', value: 'x' }];
    expect(headersOf(message, { ...context, custom }).slice(0, 2)).toEqual(['__proto__', 'x']);
  });

  it('is kept without what looks like a credential, but with the signatures', () => {
    const custom = [
      { name: 'X-Kitchen', value: 'ground-floor' },
      { name: 'Authorization', value: 'Bearer 1' },
    ];
    const sent = settingsHeaders(message, { ...context, custom, secrets: { secret, nextSecret } }, at);
    const expected = sent.map((value) => (value === 'Bearer 1' ? '********' : value));
    expect(expected).toEqual(expect.arrayContaining(['webhook-signature', 'X-Service-Signature', '********']));
    expect(keptHeaders(sent)).toEqual(expected);
  });
});
