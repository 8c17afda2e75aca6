import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { itGuards } from './api-keys-harness.ts';

let service: TestService;
let id: string;
let key: string;
beforeAll(async () => {
  service = await startTestService();
  const created = await service.call('POST', '/api/v1/api-keys', {
    body: { name: 'reader', scopes: ['prompts:read'] },
  });
  ({ id, key } = created.body as { id: string; key: string });
});
afterAll(() => service.close());

const unknown = '/api/v1/api-keys/00000000-0000-4000-8000-00000000dead';

describe('200', () => {
  it('shows when the key was last used', async () => {
    const before = await service.call('GET', `/api/v1/api-keys/${id}`);
    expect(before.body.last_used_at).toBeUndefined();
    await service.call('GET', '/api/v1/prompts', { key });
    for (let attempts = 0; attempts < 50; attempts += 1) {
      const { body, headers } = await service.call('GET', `/api/v1/api-keys/${id}`);
      if (body.last_used_at !== undefined) {
        expect(Date.parse(body.last_used_at)).toBeGreaterThan(Date.now() - 60_000);
        expect(headers['etag']).not.toBe(before.headers['etag']);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('the last use was never recorded');
  });
});

describe('304', () => {
  it('when the caller has the current version', async () => {
    const { headers } = await service.call('GET', `/api/v1/api-keys/${id}`);
    const etag = headers['etag'] ?? '';
    const again = await service.call('GET', `/api/v1/api-keys/${id}`, { headers: { 'if-none-match': `"x", ${etag}` } });
    expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', etag]);
  });
});

describe('400', () => {
  it.each(['/api/v1/api-keys/42', `/api/v1/api-keys/$ne`, '/api/v1/api-keys/..%2f'])('%s', async (path) => {
    expect((await service.call('GET', path)).status).toBe(400);
  });
});

describe('404', () => {
  it('for an unknown id', async () => {
    expect((await service.call('GET', unknown)).status).toBe(404);
  });
});

describe('refusals', () => {
  itGuards(() => service, 'GET', unknown);
});
