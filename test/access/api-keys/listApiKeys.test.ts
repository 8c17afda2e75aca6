import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createMovableClock } from '../../support/clock.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { itGuards } from './api-keys-harness.ts';

const clock = createMovableClock();
let service: TestService;
beforeAll(async () => {
  service = await startTestService({ clock });
  for (const name of ['first', 'second', 'third']) {
    await service.call('POST', '/api/v1/api-keys', { body: { name, scopes: ['prompts:read'] } });
  }
});
afterAll(() => service.close());

const path = '/api/v1/api-keys';

describe('200', () => {
  it('lists the newest keys first and links to the next page', async () => {
    const first = await service.call('GET', `${path}?limit=2`);
    expect(first.body.data.map(({ name }: { name: string }) => name)).toEqual(['third', 'second']);
    expect(first.body.pagination).toMatchObject({ total: 3, limit: 2, offset: 0 });
    const next = /^<(.+)>; rel="next"$/.exec(first.headers['link'] ?? '')?.[1] ?? '';
    const second = await service.call('GET', next);
    expect(second.body.data.map(({ name }: { name: string }) => name)).toEqual(['first']);
    expect(second.headers['link']).toBeUndefined();
  });

  it('filters by status, which depends on the clock and on revocation', async () => {
    const names = async (status: string): Promise<string[]> => {
      const { body } = await service.call('GET', `${path}?status=${status}`);
      const keys = body.data as { name: string; status: string }[];
      expect(body.pagination.total).toBe(keys.length);
      expect(keys.filter((key) => key.status !== status)).toEqual([]);
      return keys.map(({ name }) => name);
    };
    const make = async (name: string, expires_at?: string): Promise<string> => {
      const { body } = await service.call('POST', path, { body: { name, scopes: ['prompts:read'], expires_at } });
      expect(body.status).toBe('active');
      return body.id as string;
    };
    const soon = new Date(clock.now().getTime() + 60_000);
    const expiring = await make('expiring', soon.toISOString());
    const revoked = await service.call('POST', `${path}/${await make('revoked')}/revoke`);
    expect(revoked.body.status).toBe('revoked');
    const { headers } = await service.call('GET', `${path}/${expiring}`);
    clock.advance(60_000);
    expect(await names('active')).toEqual(['third', 'second', 'first']);
    expect(await names('expired')).toEqual(['expiring']);
    expect(await names('revoked')).toEqual(['revoked']);
    // The answer changes although no document was written.
    const known = { 'If-None-Match': headers['etag'] ?? '' };
    expect((await service.call('GET', `${path}/${expiring}`, { headers: known })).body.status).toBe('expired');
  });

  it('shows no secrets', async () => {
    expect((await service.call('GET', path)).text).not.toMatch(/secret|hash|pgw_[0-9a-f]{32}_/);
  });
});

describe('400', () => {
  it.each(['limit=101', 'offset=x', 'sort=name', 'status=lost'])('?%s', async (query) => {
    expect((await service.call('GET', `${path}?${query}`)).status).toBe(400);
  });
});

describe('refusals', () => {
  itGuards(() => service, 'GET', path);
});
