/**
 * Records of who changed a document.
 *
 * A record is written with the change, in an array of the changed document, so that there is no change without its
 * record, whatever stops the process. Afterwards it is handed over to the audit log: inserted there under its own id,
 * then removed from the document, without incrementing the revision. Any process can repeat each step. A document that
 * is deleted is marked with its last record first and removed after the record was handed over.
 */
import type { Collection, Db, Filter, UpdateFilter } from 'mongodb';
import { isolateFailures, throwFailures, type Failure } from '../../base/errors/outage.ts';
import type { AuthorRef } from '../../base/limits/principal.ts';
import { insertMissing } from './bulk-writes.ts';
import type { CollectionIndexes } from './indexes.ts';
import { compareAndSet, read, writeIdempotently, type StampedDocument } from './writes.ts';

/** A record while it is in the changed document. */
export interface AuditEntry {
  /** UUID. */
  id: string;
  at: Date;
  operation: string;
  author: AuthorRef;
  session_id?: string;
  resource_type: string;
  resource_id: string;
  /** After the change, or before the deletion. */
  resource_name?: string;
  /** Of amounts in `before` and `after`. */
  currency?: string;
  /** The members that differ, as JSON. */
  before?: string;
  after?: string;
  /** Names of members that differ, whose values are not recorded. */
  withheld?: string[];
  /** Names of members in `before` and `after` of whose values only the beginning and a digest are recorded. */
  cut?: string[];
  request_id: string;
  address?: string;
}

/** A record in the audit log. */
export interface AuditDocument extends Omit<AuditEntry, 'id'> {
  _id: string;
  expires_at: Date;
}

/** What the writes of an audited document add to it. */
export interface Audited {
  /** Records that are not handed over yet. */
  audit?: AuditEntry[];
  /** The document is deleted; only its last records must still be handed over. */
  removed?: true;
}

const isWaiting = { 'audit.id': { $gt: '' } };

/** The index of each audited collection. It contains only documents with records that wait. */
export const auditIndex = {
  key: { 'audit.id': 1 },
  name: 'audit.id_1',
  partialFilterExpression: isWaiting,
} as const;

export const auditLogName = 'audit_log';
/** Documents whose records are handed over together. */
const documentsAtOnce = 100;
const keptMs = 400 * 24 * 3_600_000;

/** The part of an update that records it; nothing for a change by the service itself. */
export function pushAudit(entry: AuditEntry | undefined): { audit?: AuditEntry } {
  return entry === undefined ? {} : { audit: entry };
}

/** The part of a new document that records its creation. */
export function firstAudit(entry: AuditEntry | undefined): { audit?: AuditEntry[] } {
  return entry === undefined ? {} : { audit: [entry] };
}

/** Writes records of what has no document of its own. @throws ProblemError `database-unavailable` */
export async function record(db: Db, entries: readonly AuditEntry[]): Promise<void> {
  const documents = entries.map(({ id, ...entry }) => ({
    _id: id,
    ...entry,
    expires_at: new Date(entry.at.getTime() + keptMs),
  }));
  await insertMissing(db.collection<AuditDocument>(auditLogName), documents);
}

/**
 * Hands over the records of one document, or of some documents with records that wait, and removes those that are
 * deleted.
 * @returns the number of documents
 * @throws ProblemError `database-unavailable`
 */
export async function handOver(db: Db, collection: string, id?: string): Promise<number> {
  const holders = db.collection<Audited & { _id: string }>(collection);
  const filter = (id === undefined ? isWaiting : { _id: id }) as Filter<Audited & { _id: string }>;
  const options = { projection: { audit: 1, removed: 1 }, limit: documentsAtOnce };
  const found = await read(() => holders.find(filter, options).toArray());
  const refused: Failure[] = [];
  const handOverSome = async (some: readonly (typeof found)[number][]): Promise<void> => {
    const entries = some.flatMap(({ audit = [] }) => audit);
    await record(db, entries);
    const ids = some.map(({ _id }) => _id);
    if (some.some(({ removed }) => removed)) {
      await writeIdempotently(() => holders.deleteMany({ _id: { $in: ids }, removed: true }));
    }
    if (entries.length > 0) {
      const pull = { $pull: { audit: { id: { $in: entries.map((entry) => entry.id) } } } };
      await writeIdempotently(() => holders.updateMany({ _id: { $in: ids } }, pull as UpdateFilter<Audited>));
    }
  };
  await isolateFailures(found, handOverSome, ({ _id }, error) => refused.push({ id: _id, error }));
  throwFailures(refused);
  return found.length;
}

/**
 * Creates the drain: it hands over all records that wait. Any process may run it at any time.
 * @param indexes the collections with {@link auditIndex} are drained
 */
export function createAuditDrain(db: Db, indexes: readonly CollectionIndexes[]): () => Promise<void> {
  const names = indexes
    .filter((declared) => declared.indexes.some(({ name }) => name === auditIndex.name))
    .map(({ collection }) => collection);
  const drainOne = async (name: string): Promise<void> => {
    let found = documentsAtOnce;
    while (found === documentsAtOnce) found = await handOver(db, name);
  };
  return async () => {
    await Promise.all(names.map(drainOne));
  };
}

/**
 * Deletes a document that still has this revision, and records it.
 * @returns false if another writer was first
 * @throws ProblemError `database-unavailable`
 */
export async function removeAudited<T extends StampedDocument & Audited>(
  db: Db,
  collection: Collection<T>,
  { id, revision, where }: { id: string; revision: number; where?: Filter<T> },
  entry: AuditEntry,
): Promise<boolean> {
  const change = { $set: { removed: true } as never, $push: pushAudit(entry) };
  const { outcome } = await compareAndSet(collection, { id, revision, ...(where && { where }), change });
  if (outcome === 'done') await handOver(db, collection.collectionName, id);
  return outcome === 'done' || outcome === 'missing';
}
