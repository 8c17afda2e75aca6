import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';
import { itGuards } from './api-keys-harness.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  for (const name of ['first', 'second', 'third']) {
    await service.call('POST', '/api/v1/api-keys', { body: { name, scopes: ['prompts:read'] } });
  }
});
afterAll(() => service.close());

const path = '/api/v1/api-keys';

describe('200', () => {
  it('lists the newest first and links to what follows', async () => {
    const first = await service.call('GET', `${path}?limit=2`);
    expect(first.body.data.map(({ name }: { name: string }) => name)).toEqual(['third', 'second']);
    expect(first.body.pagination).toEqual({ total: 3, limit: 2, offset: 0 });
    const next = /^<(.+)>; rel="next"$/.exec(first.headers['link'] ?? '')?.[1] ?? '';
    const second = await service.call('GET', next);
    expect(second.body.data.map(({ name }: { name: string }) => name)).toEqual(['first']);
    expect(second.headers['link']).toBeUndefined();
  });

  it('shows no secrets', async () => {
    expect((await service.call('GET', path)).text).not.toMatch(/secret|hash|pgw_[0-9a-f]{32}_/);
  });
});

describe('400', () => {
  it.each(['limit=101', 'offset=x', 'sort=name'])('?%s', async (query) => {
    expect((await service.call('GET', `${path}?${query}`)).status).toBe(400);
  });
});

describe('guards', () => {
  itGuards(() => service, 'GET', path);
});
