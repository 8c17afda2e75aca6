import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Scope } from '../../generated/operations.ts';
import { connectDatabase, type Database } from '../../src/db/client.ts';
import { testDatabaseUri } from '../support/database.ts';
import { silentLog } from '../support/log.ts';
import { LossyProxy } from '../support/lossy-proxy.ts';
import { startTestService, type Answer, type CallOptions, type TestService } from '../support/service.ts';

export const problem = (slug: string): string => `urn:prompt-gateway:problem:${slug}`;
export const unknownId = '00000000-0000-4000-8000-000000000000';
export const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A service, and the database behind it for what cannot be brought about over HTTP. */
export interface Setup {
  readonly service: TestService;
  readonly database: Database;
}

/** Starts a service for the tests of a file. */
export function setUp(environment: Record<string, string> = {}): Setup {
  let service: TestService | undefined;
  let database: Database | undefined;
  beforeAll(async () => {
    service = await startTestService({ environment });
    const databaseName = service.environment['MONGODB_DATABASE'] ?? '';
    database = await connectDatabase({ uri: testDatabaseUri(), databaseName, log: silentLog });
  });
  afterAll(async () => {
    await database?.close();
    await service?.close();
  });
  return {
    get service() {
      return started(service);
    },
    get database() {
      return started(database);
    },
  };
}

function started<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('only after beforeAll');
  return value;
}

/** A second process, as it were, on the same database. */
export function startAnother(service: TestService, environment: Record<string, string> = {}): Promise<TestService> {
  const { MONGODB_DATABASE = '', DATA_DIR = '', WEBHOOK_ALLOWED_NETWORKS = '' } = service.environment;
  const shared = { MONGODB_DATABASE, DATA_DIR, WEBHOOK_ALLOWED_NETWORKS };
  return startTestService({ environment: { ...shared, ...environment } });
}

/** Something that was created, with its entity tag. */
export interface Created {
  readonly id: string;
  readonly etag: string;
  readonly body: Answer['body'];
}

async function create(service: TestService, path: string, body: unknown): Promise<Created> {
  const answer = await service.call('POST', path, { body });
  expect(answer.status).toBe(201);
  return { id: (answer.body as { id: string }).id, etag: answer.headers['etag'] ?? '', body: answer.body };
}

export function locationBody(members: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: 'Canal Café', currency: 'EUR', timezone: 'Europe/Amsterdam', ...members };
}

export function createLocation(service: TestService, members: Record<string, unknown> = {}): Promise<Created> {
  return create(service, '/v1/locations', locationBody(members));
}

export function createCategory(service: TestService, locationId: string, name = 'Hot drinks'): Promise<Created> {
  return create(service, '/v1/categories', { location_id: locationId, name });
}

export function productBody(category: Created, members: Record<string, unknown> = {}): Record<string, unknown> {
  const { location_id } = category.body as { location_id: string };
  return { location_id, category_id: category.id, name: 'Flat white', price: 420, ...members };
}

export function createProduct(
  service: TestService,
  category: Created,
  members: Record<string, unknown> = {},
): Promise<Created> {
  return create(service, '/v1/products', productBody(category, members));
}

/** A location with a category. */
export async function createCatalog(
  service: TestService,
  members: Record<string, unknown> = {},
): Promise<{ location: Created; category: Created }> {
  const location = await createLocation(service, members);
  return { location, category: await createCategory(service, location.id) };
}

/** A valid call of the operation under test. */
export interface ValidCall extends CallOptions {
  method: string;
  path: string;
}

const scopes: readonly Scope[] = [
  'catalog:read',
  'catalog:write',
  'orders:read',
  'orders:write',
  'prompts:read',
  'integrations:manage',
];

/**
 * The answers that every operation gives for the same reasons.
 * @param prepare makes a call that would succeed
 */
export function describeCommonAnswers(setup: Setup, scope: Scope, prepare: () => Promise<ValidCall>): void {
  const call = async (service: TestService, options: CallOptions = {}): Promise<Answer> => {
    const valid = await prepare();
    return service.call(valid.method, valid.path, { ...valid, ...options });
  };

  describe('401', () => {
    it('refuses a call without a key', async () => {
      const { status, body } = await call(setup.service, { key: null });
      expect(status).toBe(401);
      expect(body.type).toBe(problem('unauthenticated'));
    });
  });

  describe('403', () => {
    it(`refuses a key without the scope ${scope}`, async () => {
      const key = await setup.service.createKey(...scopes.filter((other) => other !== scope));
      const { status, body } = await call(setup.service, { key });
      expect(status).toBe(403);
      expect(body.type).toBe(problem('insufficient-scope'));
    });

    it(`lets a key with only the scope ${scope} pass`, async () => {
      const { status } = await call(setup.service, { key: await setup.service.createKey(scope) });
      expect(status).toBeLessThan(300);
    });
  });

  describe('406', () => {
    it('refuses an Accept field that excludes JSON', async () => {
      const { status, body } = await call(setup.service, { headers: { Accept: 'text/html' } });
      expect(status).toBe(406);
      expect(body.type).toBe(problem('not-acceptable'));
    });
  });

  describe('429', () => {
    it('refuses more requests than the limit allows', async () => {
      const limited = await startAnother(setup.service, { RATE_LIMIT: '1/60s' });
      const first = await call(limited);
      const second = await call(limited);
      await limited.close();
      expect(first.status).toBeLessThan(300);
      expect(second.status).toBe(429);
      expect(second.body.type).toBe(problem('rate-limited'));
    });
  });

  describe('503', () => {
    it('says so while the database is away, and recovers', async () => {
      const proxy = await LossyProxy.start(testDatabaseUri());
      const service = await startAnother(setup.service, { MONGODB_URI: proxy.uri });
      await proxy.stop();
      const away = await call(service);
      await proxy.restart();
      const back = await call(service);
      await service.close();
      await proxy.stop();
      expect(away.status).toBe(503);
      expect(away.body.type).toBe(problem('database-unavailable'));
      expect(back.status).toBeLessThan(300);
    });
  });
}

/** What the operations with a request body have in common beside {@link describeCommonAnswers}. */
export function describeBodyAnswers(setup: Setup, prepare: () => Promise<ValidCall>): void {
  const call = async (options: CallOptions): Promise<Answer> => {
    const { method, path } = await prepare();
    return setup.service.call(method, path, options);
  };

  describe('413', () => {
    it('refuses a body of more than 1 MiB', async () => {
      const { status, body } = await call({ body: { name: 'x'.repeat(1024 * 1024) } });
      expect(status).toBe(413);
      expect(body.type).toBe(problem('content-too-large'));
    });
  });

  describe('415', () => {
    it('refuses another media type', async () => {
      const headers = { 'Content-Type': 'text/plain' };
      const { status, body } = await call({ body: '{}', headers });
      expect(status).toBe(415);
      expect(body.type).toBe(problem('unsupported-media-type'));
    });
  });
}

/** What every creating operation with an idempotency key has in common. */
export function describeIdempotency(
  setup: Setup,
  prepare: () => Promise<{ path: string; body: Record<string, unknown>; other: Record<string, unknown> }>,
): void {
  describe('Idempotency-Key', () => {
    it('creates once, and replays the answer', async () => {
      const { path, body } = await prepare();
      const headers = { 'Idempotency-Key': randomUUID() };
      const first = await setup.service.call('POST', path, { body, headers });
      const second = await setup.service.call('POST', path, { body, headers });
      expect(first.status).toBe(201);
      expect(second.status).toBe(201);
      expect(second.text).toBe(first.text);
      expect(second.headers['location']).toBe(first.headers['location']);
      expect(second.headers['idempotency-replayed']).toBe('true');
    });

    it('is refused with another body', async () => {
      const { path, body, other } = await prepare();
      const headers = { 'Idempotency-Key': randomUUID() };
      await setup.service.call('POST', path, { body, headers });
      const { status, body: answer } = await setup.service.call('POST', path, { body: other, headers });
      expect(status).toBe(422);
      expect(answer.type).toBe(problem('idempotency-key-reused'));
    });
  });
}

/** What every list has in common. @param fill makes `count` entries, the newest last, and names the list they are in */
export function describePaging(
  setup: Setup,
  fill: (count: number) => Promise<{ path: string; ids: readonly string[] }>,
  idOf: (item: Answer['body']) => string = (item: { id: string }) => item.id,
): void {
  describe('pages', () => {
    it('go from the newest to the oldest, each linking to the next', async () => {
      const { path, ids } = await fill(5);
      const joint = path.includes('?') ? '&' : '?';
      const seen: string[] = [];
      let next: string | undefined = `${path}${joint}limit=2`;
      while (next !== undefined) {
        const { status, body, headers } = await setup.service.call('GET', next);
        expect(status).toBe(200);
        expect(body.pagination).toMatchObject({ total: ids.length, limit: 2, offset: seen.length });
        seen.push(...(body.data as Answer['body'][]).map(idOf));
        next = /^<(.+)>; rel="next"$/.exec(headers['link'] ?? '')?.[1];
      }
      expect(seen).toEqual([...ids].reverse());
    });

    it('have 20 entries at offset 0 where nothing else is asked for', async () => {
      const { path } = await fill(1);
      expect((await setup.service.call('GET', path)).body.pagination).toMatchObject({ limit: 20, offset: 0 });
    });

    it('are empty beyond the end', async () => {
      const { path, ids } = await fill(1);
      const { body, headers } = await setup.service.call('GET', `${path}${path.includes('?') ? '&' : '?'}offset=1000`);
      expect(body).toEqual({ data: [], pagination: { total: ids.length, limit: 20, offset: 1000 } });
      expect(headers).not.toHaveProperty('link');
    });
  });

  describe('400', () => {
    it.each(['limit=0', 'limit=101', 'limit=1e1', 'offset=-1', 'limit=2&limit=3', 'unknown=1'])(
      'refuses %s',
      async (query) => {
        const { path } = await fill(0);
        const { status, body } = await setup.service.call(
          'GET',
          `${path}${path.includes('?') ? '&' : '?'}${query}`,
          query === 'limit=1e1' ? { differs: 'integer-spelling' } : {},
        );
        expect(status).toBe(400);
        expect(body.type).toBe(problem('invalid-request'));
      },
    );
  });
}
