import { mintKey } from '../../src/access/api-keys/api-keys.ts';
import { createApiKeyStore } from '../../src/access/api-keys/api-key-store.ts';
import { createPersonStore } from '../../src/access/people/person-store.ts';
import type { Person } from '../../src/access/people/person.ts';
import { deriveUuid } from '../../src/base/runtime/derived-id.ts';
import type { PagedDatabase } from '../../src/storage/db/pages.ts';
import { openDatabase, testDatabaseUri } from './database.ts';
import type { TestService } from './service.ts';

async function withDatabase<Result>(
  { environment: { MONGODB_URI = testDatabaseUri(), MONGODB_DATABASE = '' } }: Pick<TestService, 'environment'>,
  work: (database: PagedDatabase) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase(MONGODB_URI, MONGODB_DATABASE);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Stores a person, as the first sign-in does. */
export async function insertPerson(
  service: Pick<TestService, 'environment'>,
  more: Partial<Person> = {},
): Promise<Person> {
  const [issuer, subject, at] = ['https://login.example.com', 'ada', new Date()];
  const person: Person = {
    ...{ id: deriveUuid('person', issuer, subject), issuer, subject, name: 'Ada', email: undefined },
    ...{ roles: ['viewer'], disabled: false, epoch: 0, firstSignInAt: at, lastSignInAt: at, revision: 1, ...more },
  };
  await withDatabase(service, (database) => createPersonStore(database).insert(person, undefined));
  return person;
}

/** Stores a key that a person has created. */
export async function insertKeyOf(service: Pick<TestService, 'environment'>, { id, name }: Person): Promise<void> {
  const { id: keyId, secretHash } = mintKey(crypto.randomUUID());
  const key = {
    ...{ id: keyId, name: 'made', scopes: ['prompts:read' as const], secretHash, ancestors: [], createdAt: new Date() },
    ...{ expiresAt: undefined, limits: undefined },
    ...{ author: { type: 'person' as const, id, name }, person: { id, isAdministrator: false } },
  };
  await withDatabase(service, (database) => createApiKeyStore(database).insert(key, undefined));
}
