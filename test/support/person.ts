import { createPersonStore } from '../../src/access/people/person-store.ts';
import type { Person } from '../../src/access/people/person.ts';
import { deriveUuid } from '../../src/base/runtime/derived-id.ts';
import { openDatabase, testDatabaseUri } from './database.ts';
import type { TestService } from './service.ts';

/** Stores a person, as the first sign-in does. */
export async function insertPerson(service: TestService, more: Partial<Person> = {}): Promise<Person> {
  const { MONGODB_URI = testDatabaseUri(), MONGODB_DATABASE = '' } = service.environment;
  const database = await openDatabase(MONGODB_URI, MONGODB_DATABASE);
  const [issuer, subject, at] = ['https://login.example.com', 'ada', new Date()];
  const person: Person = {
    ...{ id: deriveUuid('person', issuer, subject), issuer, subject, name: 'Ada', email: undefined },
    ...{ roles: ['viewer'], disabled: false, epoch: 0, firstSignInAt: at, lastSignInAt: at, revision: 1, ...more },
  };
  await createPersonStore(database).insert(person, undefined);
  await database.close();
  return person;
}
