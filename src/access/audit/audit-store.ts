import type { Collection } from 'mongodb';
import { auditLogName, type AuditDocument } from '../../storage/db/audit.ts';
import { expiryIndex, type CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import type { Listing } from '../../base/lists/listing.ts';
import { storedNames } from '../../base/fields/earlier-names.ts';
import { defined } from '../../base/runtime/objects.ts';

/** Which records a list has. */
export interface AuditFilter {
  readonly since: Date | undefined;
  readonly until: Date | undefined;
  readonly authorId: string | undefined;
  readonly operation: string | undefined;
  readonly resourceType: string | undefined;
  readonly resourceId: string | undefined;
  readonly requestId: string | undefined;
}

/** The audit log in the database. */
export interface AuditStore {
  /** The newest first. @throws ProblemError `database-unavailable` */
  list(filter: AuditFilter): Listing<AuditDocument>;
}

/** Every index costs at each insertion: the records of one operation or kind of resource are found among others. */
export const auditIndexes: CollectionIndexes = {
  collection: auditLogName,
  indexes: [
    { key: { at: -1, _id: 1 }, name: 'at_-1__id_1' },
    { key: { 'author.id': 1, at: -1, _id: 1 }, name: 'author.id_1_at_-1__id_1' },
    { key: { resource_id: 1, at: -1, _id: 1 }, name: 'resource_id_1_at_-1__id_1' },
    { key: { request_id: 1, at: -1, _id: 1 }, name: 'request_id_1_at_-1__id_1' },
    expiryIndex,
  ],
};

export function createAuditStore(database: PagedDatabase): AuditStore {
  const records: Collection<AuditDocument> = database.db.collection(auditLogName);
  const list = database.pages.listsOf((document: AuditDocument) => document, { isLong: true });
  return {
    list({ since, until, authorId, operation, resourceType, resourceId, requestId }) {
      // Those first that have the fewest records.
      const indexed = Object.entries(
        defined({ request_id: requestId, resource_id: resourceId, 'author.id': authorId }),
      );
      const others = Object.fromEntries(indexed.slice(1));
      const rest = defined({
        ...others,
        operation: operation && { $in: storedNames(operation) },
        resource_type: resourceType,
      });
      return list({
        collection: records,
        time: 'at',
        where: Object.fromEntries(indexed.slice(0, 1)),
        span: { since, until },
        ...(Object.keys(rest).length > 0 && { rest }),
      });
    },
  };
}
