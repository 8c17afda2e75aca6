import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createMovableClock } from '../../support/clock.ts';
import { problem, problemIn, startAnother } from '../../support/per-operation.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { callWith, cookieFor, path, samePage } from './sessions-harness.ts';

const clock = createMovableClock();
let service: TestService;
let other: TestService;
beforeAll(async () => {
  service = await startTestService({ clock });
  other = await startAnother(service, {}, { clock });
});
afterAll(async () => {
  await other.close();
  await service.close();
});

describe('200', () => {
  it('ends the session and removes the cookie, also for copies of the cookie', async () => {
    const cookie = await cookieFor(service, await service.createKey('orders:read'));
    expect((await callWith(service, cookie)).status).toBe(200);
    const answer = await callWith(service, cookie, 'DELETE', path);
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect(answer.headers['set-cookie']).toBe('prompt-gateway-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict');
    expect((await callWith(service, cookie)).status).toBe(401);
  });

  it('ends the session in all processes within 5 seconds', async () => {
    const cookie = await cookieFor(service, await service.createKey('orders:read'));
    expect((await callWith(other, cookie)).status).toBe(200);
    expect((await callWith(service, cookie, 'DELETE', path)).status).toBe(200);
    clock.advance(5_000);
    expect((await callWith(other, cookie)).status).toBe(401);
  });

  it('also ends earlier and later cookies of the session', async () => {
    const first = await cookieFor(service, await service.createKey('orders:read'));
    clock.advance(3_600_000);
    const renewed = (await callWith(service, first)).headers['set-cookie']?.split(';')[0] ?? '';
    expect(renewed).not.toBe('');
    expect((await callWith(service, first, 'DELETE', path)).status).toBe(200);
    for (const cookie of [first, renewed]) expect((await callWith(service, cookie)).status).toBe(401);
  });

  it('ends no other session of the key', async () => {
    const key = await service.createKey('orders:read');
    const [one, another] = [await cookieFor(service, key), await cookieFor(service, key)];
    expect((await callWith(service, one, 'DELETE', path)).status).toBe(200);
    expect((await callWith(service, another)).status).toBe(200);
  });

  it('ends no session if the request has a key', async () => {
    const cookie = await cookieFor(service, await service.createKey('orders:read'));
    const headers = { ...samePage, cookie };
    expect((await service.call('DELETE', path, { headers })).status).toBe(200);
    expect((await callWith(service, cookie)).status).toBe(200);
  });
});

describe('403', () => {
  it('is the answer of a process that changes nothing, and the session continues there, too', async () => {
    const copy = await startAnother(service, { READ_ONLY: 'on' }, { clock });
    const cookie = await cookieFor(service, await service.createKey('orders:read'));
    const { status, headers, body } = await callWith(copy, cookie, 'DELETE', path);
    expect([status, headers['set-cookie'], problemIn(body)]).toEqual([403, undefined, problem('read-only')]);
    for (const process of [copy, service]) expect((await callWith(process, cookie)).status).toBe(200);
    await copy.close();
  });
});

describe('401', () => {
  it('is the answer without a session, and after the end of the session', async () => {
    const cookie = await cookieFor(service, await service.createKey('orders:read'));
    expect((await service.call('DELETE', path, { key: null })).status).toBe(401);
    expect((await callWith(service, cookie, 'DELETE', path)).status).toBe(200);
    const again = await callWith(service, cookie, 'DELETE', path);
    expect([again.status, again.body.type]).toEqual([401, problem('unauthenticated')]);
  });

  it('is the answer to a page of another origin, and the session continues', async () => {
    const cookie = await cookieFor(service, await service.createKey('orders:read'));
    const headers = { cookie, 'sec-fetch-site': 'same-site' };
    expect((await service.call('DELETE', path, { key: null, headers })).status).toBe(401);
    expect((await callWith(service, cookie)).status).toBe(200);
  });
});
