import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import packageFile from '../../../package.json' with { type: 'json' };
import { allScopes } from '../../../src/access/api-keys/feature.ts';
import { problem } from '../../support/per-operation.ts';
import { startTestService, type Answer, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const path = '/api/v1/whoami';
const whoami = (key: string | null, target = path): Promise<Answer> => service.call('GET', target, { key });
const create = async (body: object, maker = service.adminKey): Promise<{ id: string; key: string }> => {
  const created = await service.call('POST', '/api/v1/api-keys', { body, key: maker });
  expect(created.status).toBe(201);
  return created.body as { id: string; key: string };
};

describe('200', () => {
  it('describes the key of the request', async () => {
    const { id, key } = await create({
      name: 'Board',
      scopes: ['orders:read'],
      expires_at: '2036-07-01T01:59:59+02:00',
    });
    const { status, body } = await whoami(key);
    expect(status).toBe(200);
    expect(body).toEqual({
      type: 'key',
      id,
      name: 'Board',
      scopes: ['orders:read'],
      expires_at: '2036-06-30T23:59:59.000Z',
      administrator: false,
      service_version: packageFile.version,
    });
  });

  it('describes the key that the operator configured', async () => {
    const { body } = await whoami(service.adminKey);
    expect(body).toEqual({
      type: 'key',
      id: 'administrator',
      name: 'administrator',
      scopes: allScopes,
      administrator: true,
      service_version: packageFile.version,
    });
  });

  it('calls a key with every scope an administrator key, unless it expires', async () => {
    const lasting = await create({ name: 'all', scopes: allScopes });
    expect((await whoami(lasting.key)).body.administrator).toBe(true);
    const ending = await create({ name: 'all', scopes: allScopes, expires_at: '2036-01-01T00:00:00Z' });
    expect((await whoami(ending.key)).body.administrator).toBe(false);
  });
});

describe('400', () => {
  it('takes no parameters', async () => {
    const { status, body } = await whoami(service.adminKey, `${path}?verbose=true`);
    expect([status, body.errors]).toEqual([400, [{ detail: 'is unknown', parameter: 'verbose' }]]);
  });
});

describe('401', () => {
  it.each([null, `pgw_${'0'.repeat(32)}_${'A'.repeat(43)}`])('refuses the key %p', async (key) => {
    const { status, body } = await whoami(key);
    expect([status, body.type]).toEqual([401, problem('unauthenticated')]);
  });
});

describe('406', () => {
  it('refuses an Accept field that excludes JSON', async () => {
    const { status } = await service.call('GET', path, { headers: { Accept: 'text/html' } });
    expect(status).toBe(406);
  });
});

describe('the scope integrations:manage', () => {
  const reads = ['/api/v1/integrations', '/api/v1/event-types'];

  it('includes integrations:read', async () => {
    const { key } = await create({ name: 'manager', scopes: ['keys:manage', 'integrations:manage'] });
    for (const read of reads) expect((await service.call('GET', read, { key })).status).toBe(200);
    expect((await whoami(key)).body.scopes).toEqual(['keys:manage', 'integrations:read', 'integrations:manage']);
    const reader = await create({ name: 'reader', scopes: ['integrations:read'] }, key);
    for (const read of reads) expect((await service.call('GET', read, { key: reader.key })).status).toBe(200);
  });

  it('is not included in integrations:read', async () => {
    const { key } = await create({ name: 'reader', scopes: ['integrations:read', 'keys:manage'] });
    const body = { name: 'Screen', url: 'https://screen.example.com/hooks', event_types: ['ORDER_PLACED'] };
    const refused = await service.call('POST', '/api/v1/integrations', { key, body });
    expect([refused.status, refused.body.type]).toEqual([403, problem('insufficient-scope')]);
    const more = { name: 'manager', scopes: ['integrations:manage'] };
    expect((await service.call('POST', '/api/v1/api-keys', { key, body: more })).status).toBe(403);
  });
});
