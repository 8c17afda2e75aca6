/** What the tests of all operations start from, and the answers that all operations give for the same reasons. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import document from '../../generated/openapi.json' with { type: 'json' };
import type { Scope } from '../../generated/operations.ts';
import { connectDatabase, type Database } from '../../src/db/client.ts';
import { testDatabaseUri } from './database.ts';
import { silentLog } from './log.ts';
import { LossyProxy } from './lossy-proxy.ts';
import { startTestService, type Answer, type CallOptions, type TestService } from './service.ts';

export const problem = (slug: string): string => `urn:prompt-gateway:problem:${slug}`;

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
    database = await openDatabaseOf(service);
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

/** Another way to the database that a service uses. */
export function openDatabaseOf(service: TestService): Promise<Database> {
  const databaseName = service.environment['MONGODB_DATABASE'] ?? '';
  return connectDatabase({ uri: testDatabaseUri(), databaseName, log: silentLog });
}

/** A second process, as it were, on the same database and files. */
export function startAnother(service: TestService, environment: Record<string, string> = {}): Promise<TestService> {
  const { MONGODB_DATABASE = '', DATA_DIR = '', WEBHOOK_ALLOWED_NETWORKS = '' } = service.environment;
  const shared = { MONGODB_DATABASE, DATA_DIR, WEBHOOK_ALLOWED_NETWORKS };
  return startTestService({ environment: { ...shared, ...environment } });
}

/** A valid call of the operation under test. */
export interface ValidCall extends CallOptions {
  method: string;
  path: string;
}

const scopes = document.components.schemas.Scope.enum as readonly Scope[];

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
    it.each([null, 'pgw_nonsense', `pgw_${'0'.repeat(32)}_${'A'.repeat(43)}`])('refuses the key %p', async (key) => {
      const { status, body } = await call(setup.service, { key });
      expect(status).toBe(401);
      expect(body.type).toBe(problem('unauthenticated'));
    });
  });

  describe('403', () => {
    it(`refuses a key with every scope but ${scope}`, async () => {
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
      expect(Number(second.headers['retry-after'])).toBeGreaterThan(0);
    });
  });

  describe('503', () => {
    it('says so within seconds while the database is away, and recovers', async () => {
      const proxy = await LossyProxy.start(testDatabaseUri());
      const service = await startAnother(setup.service, { MONGODB_URI: proxy.uri });
      await proxy.stop();
      const before = performance.now();
      const away = await call(service);
      const waited = performance.now() - before;
      await proxy.restart();
      const back = await call(service);
      await service.close();
      await proxy.stop();
      expect(away.status).toBe(503);
      expect(waited).toBeLessThan(10_000);
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
    it.each(['text/plain', 'application/json; charset=iso-8859-1', 'application/x-www-form-urlencoded'])(
      'refuses %s',
      async (mediaType) => {
        const { status, body } = await call({ body: '{}', headers: { 'Content-Type': mediaType }, differs: 'charset' });
        expect(status).toBe(415);
        expect(body.type).toBe(problem('unsupported-media-type'));
      },
    );
  });
}
