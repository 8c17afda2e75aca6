/** The set-up for tests of operations. */
import { afterAll, beforeAll } from '@jest/globals';
import type { PagedDatabase } from '../../src/storage/db/pages.ts';
import { openDatabase, testDatabaseUri } from './database.ts';
import { startTestService, type TestService, type TestServiceOptions } from './service.ts';

export const problem = (slug: string): string => `urn:prompt-gateway:problem:${slug}`;

/** The type of the problem that the body of an answer describes, also in the form of an API of others. */
export function problemIn(body: unknown): string | undefined {
  const { type, error } = body as { type?: string; error?: { code: string; data?: { type: string } } | null };
  return error ? (error.data?.type ?? problem(error.code)) : type;
}

/** A service and its database, for states that cannot be reached over HTTP. */
export interface Setup {
  readonly service: TestService;
  readonly database: PagedDatabase;
}

/** Starts a service for the tests of a file. */
export function setUp(environment: Record<string, string> = {}): Setup {
  let service: TestService | undefined;
  let database: PagedDatabase | undefined;
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

/** Another connection to the database of a service. */
export function openDatabaseOf(service: TestService): Promise<PagedDatabase> {
  return openDatabase(testDatabaseUri(), service.environment['MONGODB_DATABASE'] ?? '');
}

/** Starts another service on the same database and files, like a second process. */
export function startAnother(
  service: TestService,
  environment: Record<string, string> = {},
  options: Omit<TestServiceOptions, 'environment'> = {},
): Promise<TestService> {
  const { MONGODB_DATABASE = '', DATA_DIR = '', WEBHOOK_ALLOWED_NETWORKS = '' } = service.environment;
  const shared = { MONGODB_DATABASE, DATA_DIR, WEBHOOK_ALLOWED_NETWORKS };
  return startTestService({ ...options, environment: { ...shared, ...environment } });
}
