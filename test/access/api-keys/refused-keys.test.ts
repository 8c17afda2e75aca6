import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { problem } from '../../support/per-operation.ts';
import { startTestService, type Answer, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    environment: { REFUSED_KEYS_LIMIT: '5/60s', TRUSTED_PROXIES: '127.0.0.0/8,::1/128' },
  });
});
afterAll(() => service.close());

let forged = 0;
/** A key of the right form that does not exist. */
function forge(): string {
  forged += 1;
  return `pgw_${String(forged).padStart(32, '0')}_${'A'.repeat(43)}`;
}

const from = (address: string, key: string): Promise<Answer> =>
  service.call('GET', '/api/v1/prompts', { key, headers: { 'x-forwarded-for': address } });

async function exhaust(address: string): Promise<void> {
  for (let sent = 0; sent < 5; sent += 1) expect((await from(address, forge())).status).toBe(401);
}

describe('refused keys', () => {
  it('are answered with 429 and Retry-After when an address has sent too many', async () => {
    await exhaust('192.0.2.1');
    const answer = await from('192.0.2.1', forge());
    expect([answer.status, answer.body.type]).toEqual([429, problem('rate-limited')]);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect((await from('192.0.2.2', forge())).status).toBe(401);
  });

  it('are then answered late, so that a connection cannot send many of them', async () => {
    await exhaust('192.0.2.8');
    const started = performance.now();
    for (let sent = 0; sent < 3; sent += 1) expect((await from('192.0.2.8', forge())).status).toBe(429);
    expect(performance.now() - started).toBeGreaterThan(280);
  });

  it('do not lock out keys that were accepted before, from any address', async () => {
    const known = await service.createKey('prompts:read');
    expect((await from('198.51.100.7', known)).status).toBe(200);
    await exhaust('192.0.2.3');
    expect((await from('192.0.2.3', known)).status).toBe(200);
    expect((await from('192.0.2.3', service.adminKey)).status).toBe(200);
    const unknown = await service.createKey('prompts:read');
    expect((await from('192.0.2.3', unknown)).status).toBe(429);
    expect((await from('192.0.2.4', unknown)).status).toBe(200);
    expect((await from('192.0.2.3', unknown)).status).toBe(200);
  });

  it('are answered with 429 even if they contain the id of a key that was accepted', async () => {
    const known = await service.createKey('prompts:read');
    expect((await from('198.51.100.7', known)).status).toBe(200);
    await exhaust('192.0.2.5');
    expect((await from('192.0.2.5', `${known.slice(0, -43)}${'A'.repeat(43)}`)).status).toBe(429);
  });

  it('are counted by network in IPv6', async () => {
    for (let host = 1; host <= 5; host += 1) expect((await from(`2001:db8:1:2::${host}`, forge())).status).toBe(401);
    expect((await from('2001:db8:1:2:ffff::1', forge())).status).toBe(429);
    expect((await from('2001:db8:1:3::1', forge())).status).toBe(401);
  });

  it('do not include requests without a key', async () => {
    for (let sent = 0; sent < 10; sent += 1) {
      const headers = { 'x-forwarded-for': '192.0.2.6' };
      expect((await service.call('GET', '/api/v1/prompts', { key: null, headers })).status).toBe(401);
    }
    expect((await from('192.0.2.6', forge())).status).toBe(401);
  });
});
