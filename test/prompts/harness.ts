import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Scope } from '../../generated/operations.ts';
import { connectDatabase, type Database } from '../../src/db/client.ts';
import { testDatabaseUri } from '../support/database.ts';
import { silentLog } from '../support/log.ts';
import { LossyProxy } from '../support/lossy-proxy.ts';
import { startTestService, type Answer, type CallOptions, type TestService } from '../support/service.ts';

export const promptsPath = '/api/v1/prompts';
export const problem = (slug: string): string => `urn:prompt-gateway:problem:${slug}`;

/** Documents as a test looks at them or breaks them. */
export interface RawDocument {
  _id: string;
  [field: string]: unknown;
}

/** A service, and the database behind it for what cannot be brought about over HTTP. */
export interface Setup {
  readonly service: TestService;
  readonly database: Database;
}

/** Starts a service for the tests of a file. */
export function setUp(): Setup {
  let service: TestService | undefined;
  let database: Database | undefined;
  beforeAll(async () => {
    service = await startTestService();
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
  const { MONGODB_DATABASE = '', DATA_DIR = '' } = service.environment;
  return startTestService({ environment: { MONGODB_DATABASE, DATA_DIR, ...environment } });
}

export interface PromptBody {
  name: string;
  messages: { role: string; content: string }[];
  [member: string]: unknown;
}

/** A valid body, of a name of its own unless one is given. */
export function promptBody(members: Record<string, unknown> = {}): PromptBody {
  return { name: `Prompt ${randomUUID().slice(0, 8)}`, messages: [{ role: 'user', content: 'Hello' }], ...members };
}

/** Creates a prompt; the created prompt with its entity tag. */
export async function create(
  service: TestService,
  members: Record<string, unknown> = {},
): Promise<{ id: string; slug: string; etag: string; body: Answer['body'] }> {
  const answer = await service.call('POST', promptsPath, { body: promptBody(members) });
  expect(answer.status).toBe(201);
  const body = answer.body as { id: string; slug: string };
  return { id: body.id, slug: body.slug, etag: answer.headers['etag'] ?? '', body };
}

/** One message that says this. */
export function saying(content: string): { messages: { role: string; content: string }[] } {
  return { messages: [{ role: 'user', content }] };
}

/** A prompt of versions 1 to `count`, which say `v1`, `v2` … */
export async function createVersions(service: TestService, count: number): Promise<{ id: string; slug: string }> {
  const prompt = await create(service, saying('v1'));
  for (let version = 2; version <= count; version += 1) {
    const { body } = await service.call('PUT', `${promptsPath}/${prompt.id}`, { body: saying(`v${version}`) });
    expect(body.version).toBe(version);
  }
  return prompt;
}

/** A valid call of the operation under test. */
export interface ValidCall extends CallOptions {
  method: string;
  path: string;
}

/**
 * The answers that every operation on prompts gives for the same reasons.
 *
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
      const others = (['prompts:read', 'prompts:write', 'prompts:invoke'] as const).filter((other) => other !== scope);
      const { status, body } = await call(setup.service, { key: await setup.service.createKey(...others) });
      expect(status).toBe(403);
      expect(body.type).toBe(problem('insufficient-scope'));
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
      expect(away.body.type).toBe(problem('database-unavailable'));
      expect(waited).toBeLessThan(10_000);
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
      const { status, body } = await call({ body: promptBody(saying('x'.repeat(1024 * 1024))) });
      expect(status).toBe(413);
      expect(body.type).toBe(problem('content-too-large'));
    });
  });

  describe('415', () => {
    it.each(['text/plain', 'application/json; charset=iso-8859-1', 'application/x-www-form-urlencoded'])(
      'refuses %s',
      async (mediaType) => {
        const headers = { 'Content-Type': mediaType };
        const { status, body } = await call({ body: JSON.stringify(promptBody()), headers, differs: 'charset' });
        expect(status).toBe(415);
        expect(body.type).toBe(problem('unsupported-media-type'));
      },
    );
  });
}

/** Lets every compare-and-set on a prompt be lost, as if others changed it all the time. */
export async function loseEveryRace(database: Database, id: string): Promise<void> {
  // Whoever reads this revision and asks for it again asks for a prompt that has none.
  const revision = { $exists: false };
  const prompts = database.db.collection<RawDocument>('prompts');
  const prompt = await prompts.findOne({ _id: id });
  await prompts.replaceOne({ _id: id }, { ...prompt, revision });
}
