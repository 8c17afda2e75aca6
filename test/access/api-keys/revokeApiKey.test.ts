import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Scope } from '../../../generated/operations.ts';
import { createApiKeys, firstKeyId, mintKey } from '../../../src/access/api-keys/api-keys.ts';
import { createApiKeyStore } from '../../../src/access/api-keys/api-key-store.ts';
import { allScopes } from '../../../src/access/api-keys/feature.ts';
import type { PagedDatabase } from '../../../src/storage/db/pages.ts';
import { createMovableClock, createSteppableClock } from '../../support/clock.ts';
import { openDatabaseOf } from '../../support/per-operation.ts';
import { adminKey } from '../../support/send.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { itGuards } from './api-keys-harness.ts';
import { system } from '../../../src/base/runtime/system.ts';
import { someone } from '../../support/author.ts';
import type { NewApiKey } from '../../../src/access/api-keys/api-key.ts';

const clock = createSteppableClock();
const clockOfOther = createMovableClock();
let service: TestService;
let other: TestService;
let database: PagedDatabase;
beforeAll(async () => {
  service = await startTestService();
  // A second process on the same database.
  const { MONGODB_DATABASE = '' } = service.environment;
  other = await startTestService({ environment: { MONGODB_DATABASE }, clock: clockOfOther });
  database = await openDatabaseOf(service);
});
afterAll(async () => {
  clock.restore();
  await Promise.all([service.close(), other.close(), database.close()]);
});

const unknown = '/api/v1/api-keys/00000000-0000-4000-8000-00000000dead/revoke';

interface Made {
  readonly id: string;
  readonly key: string;
}

const make = async (where: TestService, maker: string, ...scopes: (Scope | object)[]): Promise<Made> => {
  const more = scopes.filter((scope) => typeof scope === 'object');
  const body = Object.assign({ name: 'x', scopes: scopes.filter((scope) => typeof scope === 'string') }, ...more);
  const created = await where.call('POST', '/api/v1/api-keys', { body, key: maker });
  expect(created.status).toBe(201);
  return created.body as Made;
};

/** A key without a maker, as the first key is. */
const makeOld = async (wanted: string = randomUUID(), ancestors: readonly string[] = []): Promise<Made> => {
  const { id, key, secretHash } = mintKey(wanted);
  const more = {
    createdAt: new Date(),
    expiresAt: undefined,
    ancestors,
    limits: undefined,
    author: undefined,
    person: undefined,
  };
  const old: NewApiKey = { id, name: 'old', scopes: ['keys:manage', 'prompts:read'], secretHash, ...more };
  await createApiKeyStore(database).insert(old, undefined);
  return { id, key };
};

const revoke = (key: string, { id }: Made, query = ''): ReturnType<TestService['call']> =>
  service.call('POST', `/api/v1/api-keys/${id}/revoke${query}`, { key });

describe('200', () => {
  it('ends the key at once in this process, and within five seconds in others, even if the clock goes back', async () => {
    const { body } = await service.call('POST', '/api/v1/api-keys', { body: { name: 'x', scopes: ['prompts:read'] } });
    const use = (where: TestService): ReturnType<TestService['call']> =>
      where.call('GET', '/api/v1/prompts', { key: body.key });
    expect([(await use(service)).status, (await use(other)).status]).toEqual([200, 200]);

    const revoked = await service.call('POST', `/api/v1/api-keys/${body.id}/revoke`);
    expect(revoked.status).toBe(200);
    expect(revoked.body.revoked_at).toBeDefined();
    const refused = await use(service);
    expect([refused.status, refused.body.detail]).toEqual([401, 'The API key was revoked.']);
    clock.step(-3_600_000);
    clockOfOther.advance(5_000);
    expect((await use(other)).status).toBe(401);
  });

  it('gives the same answer when it is repeated', async () => {
    const { body } = await service.call('POST', '/api/v1/api-keys', { body: { name: 'x', scopes: ['prompts:read'] } });
    const first = await service.call('POST', `/api/v1/api-keys/${body.id}/revoke`);
    const second = await service.call('POST', `/api/v1/api-keys/${body.id}/revoke`);
    expect(second.body).toEqual(first.body);
    expect(first.body).toMatchObject({ revoked_descendants: 0, active_descendants: 0 });
  });
});

describe('200 with descendants', () => {
  it('counts them, and revokes them at once in this process and within five seconds in others', async () => {
    const manager = await make(service, adminKey, 'keys:manage', 'prompts:read');
    const child = await make(service, manager.key, 'keys:manage', 'prompts:read');
    const grandchild = await make(other, child.key, 'prompts:read');
    const bystander = await make(service, adminKey, 'prompts:read');
    const use = async (where: TestService, { key }: Made): Promise<number> =>
      (await where.call('GET', '/api/v1/prompts', { key })).status;
    expect([await use(service, grandchild), await use(other, grandchild)]).toEqual([200, 200]);

    const kept = await revoke(adminKey, manager);
    expect(kept.body).toMatchObject({ revoked_descendants: 0, active_descendants: 2 });
    expect(await use(service, grandchild)).toBe(200);

    const all = await revoke(adminKey, manager, '?descendants=revoke');
    expect(all.body).toMatchObject({ revoked_descendants: 2, active_descendants: 0 });
    expect([await use(service, child), await use(service, grandchild), await use(service, bystander)]).toEqual([
      401, 401, 200,
    ]);
    const again = await revoke(adminKey, manager, '?descendants=revoke');
    expect(again.body).toMatchObject({ revoked_at: kept.body.revoked_at, revoked_descendants: 0 });
    clockOfOther.advance(5_000);
    expect(await use(other, grandchild)).toBe(401);
  });

  it('revokes more keys than one database command can change', async () => {
    const manager = await make(service, adminKey, 'keys:manage', 'prompts:read');
    const made = {
      revision: 1,
      writes: [],
      name: 'x',
      scopes: ['prompts:read'],
      secret_hash: 'x',
      created_at: new Date(),
    };
    const ancestors = ['administrator', manager.id];
    const descendants = Array.from({ length: 1_203 }, () => ({ _id: randomUUID(), ...made, ancestors }));
    await database.db.collection<{ _id: string }>('api_keys').insertMany(descendants);
    const { body } = await revoke(adminKey, manager, '?descendants=revoke');
    expect(body).toMatchObject({ revoked_descendants: 1_203, active_descendants: 0 });
  });

  it('also revokes keys that are created at the same time', async () => {
    const manager = await make(service, adminKey, 'keys:manage', 'prompts:read');
    const store = createApiKeyStore(database);
    // Another process revokes between the check of the maker and the insert.
    const late = createApiKeys({
      ...system,
      store: {
        ...store,
        async insert(key, entry) {
          await revoke(adminKey, manager, '?descendants=revoke');
          return await store.insert(key, entry);
        },
      },
      allScopes,
      people: { read: () => Promise.reject(new Error('no person makes it')) },
    });
    const principal = { kind: 'key', id: manager.id, name: 'manager', scopes: new Set(allScopes) } as const;
    const made = late.create(
      { name: 'late', scopes: ['prompts:read'], expiresAt: undefined, limits: undefined },
      { ...someone, principal },
    );
    await expect(made).rejects.toMatchObject({ type: 'unauthenticated' });
    expect(await store.countActiveDescendants(manager.id, new Date())).toBe(0);
  });
});

describe('who may revoke', () => {
  it('a key can revoke itself', async () => {
    const manager = await make(service, adminKey, 'keys:manage');
    expect((await revoke(manager.key, manager)).status).toBe(200);
    expect((await revoke(manager.key, manager)).status).toBe(401);
  });

  it('a key can revoke its descendants, but neither its maker nor other keys', async () => {
    const manager = await make(service, adminKey, 'keys:manage', 'prompts:read');
    const child = await make(service, manager.key, 'keys:manage', 'prompts:read');
    const grandchild = await make(service, child.key, 'prompts:read');
    const lesser = await make(service, adminKey, 'prompts:read');
    for (const target of [manager, lesser]) {
      const refused = await revoke(child.key, target);
      expect([refused.status, refused.body.type]).toEqual([403, 'urn:prompt-gateway:problem:no-authority']);
      expect((await service.call('GET', '/api/v1/prompts', { key: target.key })).status).toBe(200);
    }
    expect((await revoke(manager.key, grandchild)).status).toBe(200);
  });

  it('a key with every scope can revoke any key, unless it expires', async () => {
    const old = await makeOld();
    const ending = await make(service, adminKey, { expires_at: '2036-01-01T00:00:00Z' }, ...allScopes);
    expect((await revoke(ending.key, old)).status).toBe(403);
    const administrator = await make(service, adminKey, ...allScopes);
    expect((await revoke(administrator.key, old)).status).toBe(200);
    expect((await revoke(administrator.key, ending)).status).toBe(200);
  });

  it('the first key can revoke any key, even if a scope was added since', async () => {
    const first = await makeOld(firstKeyId);
    const other = await make(service, adminKey, 'prompts:read');
    expect((await revoke(first.key, other)).status).toBe(200);
  });

  it('a key without a recorded maker works, shows no maker, and can create and revoke keys', async () => {
    const old = await makeOld();
    expect((await service.call('GET', `/api/v1/api-keys/${old.id}`)).body.author).toBeUndefined();
    const child = await make(service, old.key, 'prompts:read');
    expect((await revoke(old.key, child)).status).toBe(200);
  });

  it('a key of which only the chain was recorded shows the last of it as its author', async () => {
    const [first, parent] = [randomUUID(), randomUUID()];
    const old = await makeOld(undefined, [first, parent]);
    const { body } = await service.call('GET', `/api/v1/api-keys/${old.id}`);
    expect(body.author).toEqual({ type: 'key', id: parent, name: parent });
  });
});

describe('400 and 404', () => {
  it('400 for an unknown value of descendants', async () => {
    const path = `/api/v1/api-keys/${randomUUID()}/revoke?descendants=all`;
    expect((await service.call('POST', path)).status).toBe(400);
  });

  it('400 for an invalid id', async () => {
    expect((await service.call('POST', '/api/v1/api-keys/x/revoke')).status).toBe(400);
  });
  it('404 for an unknown id', async () => {
    expect((await service.call('POST', unknown)).status).toBe(404);
  });
});

describe('refusals', () => {
  itGuards(() => service, 'POST', unknown);
});
