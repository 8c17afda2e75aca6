import type { Collection } from 'mongodb';
import type { Sealed } from '../../base/secrets/secret-box.ts';
import type { Listing } from '../../base/lists/listing.ts';
import {
  auditIndex,
  firstAudit,
  record,
  removeAudited,
  type AuditEntry,
  type Audited,
} from '../../storage/db/audit.ts';
import { expiryIndex, type CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import { createResourceStore, type ResourceDocument, type ResourceStore } from '../../storage/db/resource-store.ts';
import { insertOnce, read, type StampedDocument } from '../../storage/db/writes.ts';
import { personFields, type Person, type PersonSession } from './person.ts';

/** People and their sessions. Every method can throw `database-unavailable`. */
export interface PersonStore extends Pick<ResourceStore<typeof personFields.table>, 'find' | 'insert' | 'replace'> {
  /** Those who signed in for the first time most recently first. */
  list(): Listing<Person>;
  beginSession(session: PersonSession, entry: AuditEntry): Promise<void>;
  findSession(id: string): Promise<PersonSession | undefined>;
  /** The ids of the people with a session of this name at their issuer. */
  findBySid(sid: string): Promise<readonly string[]>;
  /** Ends a session. Nothing happens if it has ended. */
  endSession(id: string, entry: AuditEntry): Promise<void>;
  /** Records a sign-in that was refused. */
  recordRefusal(entry: AuditEntry): Promise<void>;
  /** Uses something that can be used once. @returns false if it was used before */
  useOnce(id: string, until: Date): Promise<boolean>;
  isUsed(id: string): Promise<boolean>;
}

interface SessionDocument extends StampedDocument, Audited {
  person_id: string;
  epoch: number;
  sid?: string;
  id_token?: Sealed;
  started_at: Date;
  expires_at: Date;
}

interface UseDocument extends StampedDocument {
  expires_at: Date;
}

const peopleName = 'people';
const sessionsName = 'person_sessions';
const usesName = 'oidc_uses';

export const personIndexes: readonly CollectionIndexes[] = [
  {
    collection: peopleName,
    indexes: [{ key: { first_sign_in_at: -1, _id: 1 }, name: 'first_sign_in_at_-1__id_1' }, auditIndex],
  },
  { collection: sessionsName, indexes: [expiryIndex, auditIndex, { key: { sid: 1 }, name: 'sid_1', sparse: true }] },
  { collection: usesName, indexes: [expiryIndex] },
];

export function createPersonStore(database: PagedDatabase): PersonStore {
  const people = database.db.collection<ResourceDocument<typeof personFields.table>>(peopleName);
  const sessions: Collection<SessionDocument> = database.db.collection(sessionsName);
  const uses: Collection<UseDocument> = database.db.collection(usesName);
  const { find, insert, replace } = createResourceStore(database, peopleName, personFields);
  const listByTime = database.pages.listsOf((document: ResourceDocument<typeof personFields.table>): Person => ({
    ...personFields.fromDocument(document),
    revision: document.revision,
  }));
  return {
    find,
    insert,
    replace,
    list: () => listByTime({ collection: people, where: {}, time: 'first_sign_in_at' }),
    async beginSession({ id, personId, epoch, sid, idToken, startedAt, endsAt }, entry) {
      await insertOnce(sessions, {
        _id: id,
        person_id: personId,
        epoch,
        ...(sid !== undefined && { sid }),
        ...(idToken !== undefined && { id_token: idToken }),
        started_at: startedAt,
        expires_at: endsAt,
        ...firstAudit(entry),
      });
    },
    async findSession(id) {
      const found = await read(() => sessions.findOne({ _id: id }));
      if (found === null || found.removed) return undefined;
      const { person_id: personId, epoch, sid, id_token: idToken, started_at: startedAt, expires_at: endsAt } = found;
      return { id, personId, epoch, sid, idToken, startedAt, endsAt };
    },
    async findBySid(sid) {
      const found = await read(() => sessions.find({ sid }, { projection: { person_id: 1 }, limit: 100 }).toArray());
      return [...new Set(found.map(({ person_id: personId }) => personId))];
    },
    async endSession(id, entry) {
      const found = await read(() => sessions.findOne({ _id: id }, { projection: { revision: 1 } }));
      if (found !== null) await removeAudited(database.db, sessions, { id, revision: found.revision }, entry);
    },
    recordRefusal: (entry) => record(database.db, [entry]),
    async useOnce(id, until) {
      return (await insertOnce(uses, { _id: id, expires_at: until })).outcome === 'done';
    },
    async isUsed(id) {
      return (await read(() => uses.findOne({ _id: id }, { projection: { _id: 1 } }))) !== null;
    },
  };
}
