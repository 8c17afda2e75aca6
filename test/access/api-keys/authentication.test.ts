import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { mintKey } from '../../../src/access/api-keys/api-keys.ts';
import {
  createAuthentication,
  type AuthenticatedKey,
  type Authentication,
} from '../../../src/access/api-keys/authentication.ts';
import type { StoredApiKey } from '../../../src/access/api-keys/api-key.ts';
import type { ApiKeyStore } from '../../../src/access/api-keys/api-key-store.ts';

interface Setting {
  readonly authentication: Authentication;
  readonly use: () => Promise<AuthenticatedKey>;
  /** Milliseconds on each of the two clocks. Tests change them. */
  readonly clock: { wall: number; monotonic: number };
  /** Answers the waiting look-ups with the key as it was when the database was asked. */
  readonly answer: () => void;
  readonly revoke: () => void;
  readonly fail: () => void;
  readonly lookUps: () => number;
}

function setUp(): Setting {
  const { id, key, secretHash } = mintKey(randomUUID());
  const clock = { wall: Date.parse('2026-11-21T12:00:00Z'), monotonic: 0 };
  let stored: StoredApiKey = {
    id,
    secretHash,
    name: 'till',
    scopes: ['orders:write'],
    ancestors: [],
    author: undefined,
    person: undefined,
    revision: 1,
    createdAt: new Date(clock.wall),
    expiresAt: undefined,
    lastUsedAt: undefined,
    revokedAt: undefined,
    limits: undefined,
  };
  const waiting: { read: StoredApiKey; resolve: (key: StoredApiKey) => void; reject: (error: Error) => void }[] = [];
  let asked = 0;
  const store: Pick<ApiKeyStore, 'find' | 'touch'> = {
    find() {
      asked += 1;
      return new Promise((resolve, reject) => {
        waiting.push({ read: stored, resolve, reject });
      });
    },
    touch: () => Promise.resolve(),
  };
  const authentication = createAuthentication({
    store: store as ApiKeyStore,
    allScopes: new Set(),
    adminKey: undefined,
    onError: () => undefined,
    clock: { now: () => new Date(clock.wall), monotonic: () => clock.monotonic },
  });
  return {
    authentication,
    clock,
    use: () => authentication.authenticate({ headers: { authorization: `Bearer ${key}` } }),
    answer() {
      for (const { read, resolve } of waiting.splice(0)) resolve(read);
    },
    revoke() {
      stored = { ...stored, revokedAt: new Date(clock.wall) };
      authentication.forget(new Set([id]));
    },
    fail() {
      for (const { reject } of waiting.splice(0)) reject(new Error('the database is away'));
    },
    lookUps: () => asked,
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a revocation while the key is looked up', () => {
  it('refuses the waiting requests with 401, and none of them fails in another way', async () => {
    const { use, answer, revoke, lookUps } = setUp();
    const requests = Promise.allSettled([use(), use(), use()]);
    await settled();
    revoke();
    answer();
    await settled();
    answer();
    const outcomes = (await requests).map((outcome) => (outcome.status === 'rejected' ? outcome.reason : outcome));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ type: 'unauthenticated' });
    expect(lookUps()).toBe(2);
  });
});

describe('a key that was looked up', () => {
  it('is looked up once for all waiting requests, and stays valid for five seconds', async () => {
    const { use, answer, clock, lookUps } = setUp();
    const both = Promise.all([use(), use()]);
    clock.monotonic = 4_000;
    answer();
    expect((await both).map(({ name }) => name)).toEqual(['till', 'till']);
    clock.monotonic = 4_999;
    await use();
    expect(lookUps()).toBe(1);
    clock.monotonic = 5_000;
    const again = use();
    answer();
    await again;
    expect(lookUps()).toBe(2);
  });

  it.each([-3_600_000, 3_600_000])('expires at the same moment when the wall clock jumps by %i ms', async (step) => {
    const { use, answer, clock, lookUps } = setUp();
    const first = use();
    answer();
    await first;
    clock.wall += step;
    await use();
    expect(lookUps()).toBe(1);
    clock.monotonic = 5_000;
    const again = use();
    answer();
    await again;
    expect(lookUps()).toBe(2);
  });

  it('is looked up again after a failure', async () => {
    const { use, answer, fail } = setUp();
    const first = use();
    fail();
    await expect(first).rejects.toThrow('the database is away');
    const second = use();
    answer();
    expect((await second).name).toBe('till');
  });
});
