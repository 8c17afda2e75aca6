/**
 * What the stores of resources have in common, if every change by a caller has a record in the audit log: a change is
 * written with its record in one command, and only if nobody else was first.
 */
import type { Collection, Filter } from 'mongodb';
import type { Document, Fields, Table, Thing } from '../../base/fields/fields.ts';
import { firstAudit, handOver, pushAudit, removeAudited, type AuditEntry, type Audited } from './audit.ts';
import type { PagedDatabase } from './pages.ts';
import { compareAndSet, insertOnce, read, type Change, type StampedDocument, type Unstamped } from './writes.ts';

export type ResourceDocument<T extends Table> = StampedDocument & Audited & Document<T>;

/** A resource as it is stored. */
type Stored<T extends Table> = Thing<T> & { readonly revision: number };

export interface Replacement<T extends Table> {
  /** The fields that are written; all by default. */
  readonly only?: readonly (keyof T)[];
  /** Further conditions that must still hold. */
  readonly where?: object;
  /** Of the document, besides the fields. */
  readonly $set?: object;
  readonly $push?: object;
}

/** Resources in the database. Every method can throw `database-unavailable`. */
export interface ResourceStore<T extends Table> {
  find(id: string): Promise<Stored<T> | undefined>;
  /** Those of a collection that never has more than `most`. */
  all(most: number): Promise<Stored<T>[]>;
  /**
   * False if one with this id already exists.
   * @param entry undefined for a change by the service itself
   * @param rest of the document, besides the fields
   */
  insert(thing: Thing<T>, entry: AuditEntry | undefined, rest?: object): Promise<boolean>;
  /**
   * Writes a resource if the stored one still has its revision.
   * @param entry as for `insert`
   * @returns it as it is stored; undefined if another writer was first
   */
  replace<One extends Stored<T>>(
    thing: One,
    entry: AuditEntry | undefined,
    replacement?: Replacement<T>,
  ): Promise<One | undefined>;
  /**
   * Writes a resource in place of the present one, or of none.
   * @returns it as it is stored; undefined if another writer was first
   */
  put(thing: Thing<T>, present: Stored<T> | undefined, entry: AuditEntry): Promise<Stored<T> | undefined>;
  /** Deletes a resource that still has this revision. False if another writer was first. */
  remove(present: Stored<T>, entry: AuditEntry): Promise<boolean>;
}

/**
 * Creates the store of a kind of resource.
 * @param distinction for ids that callers choose: what a resource has that a later one under its id has not, because
 *   the revisions of that one begin anew
 */
export function createResourceStore<T extends Table>(
  { db }: Pick<PagedDatabase, 'db'>,
  collectionName: string,
  fields: Fields<T>,
  distinction: (present: Stored<T>) => object = () => ({}),
): ResourceStore<T> {
  type Stamped = StampedDocument & Audited;
  const collection: Collection<Stamped> = db.collection(collectionName);
  const fromDocument = (document: Stamped): Stored<T> => ({
    ...fields.fromDocument(document as ResourceDocument<T>),
    revision: document.revision,
  });
  /** What the stored one must still be. */
  const seen = (thing: Stored<T>, where: object = {}): { id: string; revision: number; where: Filter<Stamped> } => ({
    id: fields.idOf(thing),
    revision: thing.revision,
    where,
  });

  const store: ResourceStore<T> = {
    async find(id) {
      const document = await read(() => collection.findOne({ _id: id }));
      // Its deletion was interrupted. Its id must be free for a new one.
      if (document?.removed) await handOver(db, collectionName, id);
      return document === null || document.removed ? undefined : fromDocument(document);
    },
    async all(most) {
      const found = await read(() => collection.find({}, { limit: most }).toArray());
      return found.filter(({ removed }) => !removed).map(fromDocument);
    },
    async insert(thing, entry, rest) {
      const document = { ...fields.toDocument(thing), ...rest, ...firstAudit(entry) };
      return (await insertOnce(collection, document as unknown as Unstamped<Stamped>)).outcome === 'done';
    },
    async replace(thing, entry, { only, where, $set, $push } = {}) {
      const values = only === undefined ? thing : Object.fromEntries(only.map((name) => [name, thing[name]]));
      const update = fields.toUpdate(values as Partial<Thing<T>>);
      const change = { ...update, $set: { ...update.$set, ...$set }, $push: { ...$push, ...pushAudit(entry) } };
      const written = await compareAndSet(collection, {
        ...seen(thing, where),
        change: change as unknown as Change<Stamped>,
      });
      return written.outcome === 'done' ? { ...thing, revision: written.revision } : undefined;
    },
    async put(thing, present, entry) {
      if (present === undefined) return (await store.insert(thing, entry)) ? { ...thing, revision: 1 } : undefined;
      return await store.replace({ ...thing, revision: present.revision }, entry, { where: distinction(present) });
    },
    remove: (present, entry) => removeAudited(db, collection, seen(present, distinction(present)), entry),
  };
  return store;
}
