import { describe, expect, it } from '@jest/globals';
import { findHeaderMistakes, looksLikeCredential } from '../../src/webhooks/integrations/custom-headers.ts';
import { readRetryAfter } from '../../src/base/outbound/retry-after.ts';
import { generateSecret, signingKeyOf, toStandardSecret } from '../../src/webhooks/integrations/signing-secret.ts';
import { deliveryId } from '../../src/webhooks/deliveries/delivery.ts';
import { nextAttemptIn } from '../../src/webhooks/deliveries/retry-schedule.ts';
import { partitionOf, spansOf } from '../../src/webhooks/partitions/partition.ts';
import { defaultTiming } from '../../src/webhooks/timing.ts';

const second = 1_000;
const hour = 3_600 * second;

describe('nextAttemptIn', () => {
  it('follows the schedule, then gives up', () => {
    const waits = Array.from({ length: 10 }, (_, failuresBefore) =>
      nextAttemptIn({ failuresBefore, retryAfter: undefined }, defaultTiming, 0.5),
    );
    const hours = [2, 5, 10, 14, 20, 24].map((each) => each * hour);
    expect(waits).toEqual([5 * second, 300 * second, 1_800 * second, ...hours, undefined]);
  });

  it('varies by a fifth in both directions', () => {
    const spread = [0, 0.999_999].map((random) =>
      nextAttemptIn({ failuresBefore: 1, retryAfter: undefined }, defaultTiming, random),
    );
    expect(spread).toEqual([240 * second, 360 * second]);
  });

  it('waits at least as long as Retry-After asks, up to a day', () => {
    const asked = (retryAfter: number, random = 0): number | undefined =>
      nextAttemptIn({ failuresBefore: 0, retryAfter }, defaultTiming, random);
    expect(asked(second)).toBe(4 * second);
    expect(asked(hour)).toBe(hour);
    expect(asked(hour, 0.5)).toBe(1.05 * hour);
    expect(asked(1_000 * hour, 0.9)).toBe(24 * hour);
  });

  it('does not continue for ever because a receiver asks for it', () => {
    expect(nextAttemptIn({ failuresBefore: 9, retryAfter: hour }, defaultTiming, 0)).toBeUndefined();
  });
});

describe('readRetryAfter', () => {
  const now = new Date('2026-11-06T12:00:00Z');
  it.each([
    ['120', 120_000],
    ['0', 0],
    ['Fri, 06 Nov 2026 12:01:00 GMT', 60_000],
    ['Fri, 06 Nov 2026 11:00:00 GMT', 0],
    ['-5', undefined],
    ['1.5', 1_500],
    ['3600000000', 24 * hour],
    ['9'.repeat(400), 24 * hour],
    // The obsolete forms of RFC 9110, section 5.6.7.
    ['Friday, 06-Nov-26 12:01:00 GMT', 60_000],
    ['Fri Nov  6 12:01:00 2026', 60_000],
    ['Sun Nov 22 12:00:00 2026', 24 * hour],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
    ['Fri, 06 Nov 2026 24:01:00 GMT', undefined],
    ['Fri, 06 Nov 2026 12:01:00', undefined],
    ['fri, 06 nov 2026 12:01:00 gmt', undefined],
    ['Friday, 06-Nov-26 12:01:00', undefined],
    ['soon', undefined],
    ['Fri, soon', undefined],
    [undefined, undefined],
  ])('reads %j as %j', (value, milliseconds) => {
    expect(readRetryAfter(value, now)).toBe(milliseconds);
  });
});

describe('partitions', () => {
  it('are the first six bits of an id', () => {
    const ids = ['00', '03', '04', '7f', '80', 'ff'].map((digits) => `${digits}0b0a4a-6f0e-4a53-9d0f-2e6a3e0f9c11`);
    expect(ids.map(partitionOf)).toEqual([0, 0, 1, 31, 32, 63]);
  });

  it('that are neighbours have one span of ids', () => {
    expect(spansOf([5, 4, 63, 62, 10])).toEqual([
      { from: '10', before: '18' },
      { from: '28', before: '2c' },
      { from: 'f8', before: undefined },
    ]);
    expect(spansOf(Array.from({ length: 64 }, (_, index) => index))).toEqual([{ from: '00', before: undefined }]);
  });
});

describe('deliveryId', () => {
  const ids = { eventId: 'e', integrationId: 'i' };
  it('is a UUID that follows from event, integration and replay', () => {
    expect(deliveryId(ids)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(deliveryId(ids)).toBe(deliveryId({ ...ids, replayId: undefined }));
    const others = [deliveryId(ids), deliveryId({ ...ids, replayId: 'r' }), deliveryId({ ...ids, eventId: 'f' })];
    expect(new Set(others).size).toBe(3);
  });
});

describe('custom headers', () => {
  it.each([
    ...['Host', 'host', 'Connection', 'Keep-Alive', 'TE', 'Trailer', 'Transfer-Encoding', 'Upgrade', 'Expect'],
    ...['Content-Type', 'Content-Length', 'Proxy-Authorization', 'X-Service-Signature', 'webhook-id', 'User-Agent'],
    ...['', 'a b', 'a:b', 'naïve', 'a\r\nb'],
  ])('refuses the name %j', (name) => {
    expect(findHeaderMistakes({ [name]: 'value' })).toMatchObject([{ name }]);
  });

  it.each(['', ' a', 'a ', 'a\r\nX-Other: b', 'a\tb', 'é', 'a\0'])('refuses the value %j', (value) => {
    expect(findHeaderMistakes({ 'X-Kitchen': value })).toHaveLength(1);
  });

  it('refuses names that differ only in case', () => {
    expect(findHeaderMistakes({ 'X-A': '1', 'x-a': '2' })).toMatchObject([{ name: 'x-a' }]);
  });

  it('accepts all others', () => {
    const headers = { Authorization: 'Bearer abc', 'X-Kitchen': 'ground floor', Accept: '*/*', __proto__x: 'y' };
    expect(findHeaderMistakes(headers)).toEqual([]);
  });

  it.each([
    ['Authorization', 'abc', true],
    ['X-Api-Key', 'abc', true],
    ['Cookie', 'a=b', true],
    ['X-Kitchen', 'Bearer abc', true],
    ['X-Kitchen', '0123456789abcdef0123456789abcdef', true],
    ['X-Kitchen', 'ground-floor', false],
    ['X-Region', 'eu-central-1', false],
  ])('%s: %s is a credential: %s', (name, value, expected) => {
    expect(looksLikeCredential(name, value)).toBe(expected);
  });
});

describe('signing secrets', () => {
  it('are the key itself, or its base64 after whsec_', () => {
    const bytes = Buffer.from(Array.from({ length: 64 }, (_, index) => index * 4));
    expect(signingKeyOf(`whsec_${bytes.toString('base64')}`)).toEqual(bytes);
    expect(signingKeyOf('EXAMPLE-not-a-real-secret-0123456789')).toEqual(
      Buffer.from('EXAMPLE-not-a-real-secret-0123456789'),
    );
  });

  it('are created valid and different', () => {
    const made = Array.from({ length: 50 }, generateSecret);
    for (const secret of made) expect(secret).toMatch(/^(?!whsec_)[A-Za-z0-9_-]{43}$/);
    expect(new Set(made).size).toBe(50);
  });

  it('have a form for libraries of Standard Webhooks', () => {
    const expected = 'whsec_RVhBTVBMRS1ub3QtYS1yZWFsLXNlY3JldC0wMTIzNDU2Nzg5';
    expect(toStandardSecret('EXAMPLE-not-a-real-secret-0123456789')).toBe(expected);
    expect(toStandardSecret(expected)).toBe(expected);
  });
});
