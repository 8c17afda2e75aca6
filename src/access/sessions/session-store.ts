import type { Collection } from 'mongodb';
import type { Database } from '../../storage/db/client.ts';
import { auditIndex, firstAudit, record, type Audited, type AuditEntry } from '../../storage/db/audit.ts';
import { expiryIndex, type CollectionIndexes } from '../../storage/db/indexes.ts';
import { compareAndSet, insertOnce, read, upsertOnce, type StampedDocument } from '../../storage/db/writes.ts';

/** A link that signs in once. */
export interface SignInLink {
  /** SHA-256 of the token, in hex. The token itself is not stored. */
  readonly tokenHash: string;
  readonly keyId: string;
  readonly expiresAt: Date;
}

/** Sessions are in their cookies; this keeps what a cookie cannot know. */
export interface SessionStore {
  /** Remembers that a session was ended. @param until when the last of its cookies has ended by itself */
  end(id: string, until: Date, entry: AuditEntry): Promise<void>;
  /** Records a new session. It has no document. */
  recordStart(entry: AuditEntry): Promise<void>;
  isEnded(id: string): Promise<boolean>;
  addLink(link: SignInLink): Promise<void>;
  /** Uses up a link. @returns the id of its key; undefined if there is no such link, or it was used or has expired */
  useLink(tokenHash: string, at: Date): Promise<string | undefined>;
}

interface EndedSessionDocument extends Audited {
  _id: string;
  expires_at: Date;
}

interface SignInLinkDocument extends StampedDocument {
  key_id: string;
  expires_at: Date;
  used_at?: Date;
}

const endedName = 'ended_sessions';
const linksName = 'sign_in_links';

export const sessionIndexes: readonly CollectionIndexes[] = [
  { collection: endedName, indexes: [expiryIndex, auditIndex] },
  { collection: linksName, indexes: [expiryIndex] },
];

export function createSessionStore(database: Database): SessionStore {
  const ended: Collection<EndedSessionDocument> = database.db.collection(endedName);
  const links: Collection<SignInLinkDocument> = database.db.collection(linksName);
  return {
    async end(id, until, entry) {
      await upsertOnce(ended, { _id: id, expires_at: until, ...firstAudit(entry) });
    },
    recordStart: (entry) => record(database.db, [entry]),
    async isEnded(id) {
      return (await read(() => ended.findOne({ _id: id }, { projection: { _id: 1 } }))) !== null;
    },
    async addLink({ tokenHash, keyId, expiresAt }) {
      await insertOnce(links, { _id: tokenHash, key_id: keyId, expires_at: expiresAt });
    },
    async useLink(tokenHash, at) {
      const link = await read(() => links.findOne({ _id: tokenHash }));
      if (link === null || link.used_at !== undefined || link.expires_at <= at) return undefined;
      // Of several requests at the same time, one finds the revision that all have read.
      const { revision } = link;
      const used = await compareAndSet(links, { id: tokenHash, revision, change: { $set: { used_at: at } } });
      return used.outcome === 'done' ? link.key_id : undefined;
    },
  };
}
