import { createAuditDrain } from '../../storage/db/audit.ts';
import type { CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import type { Chore } from '../../base/runtime/maintenance.ts';
import { auditOperations } from './audit-operations.ts';
import { createAuditStore } from './audit-store.ts';

/** How often records are handed over to the audit log, in milliseconds. A list of it also does that. */
const drainEveryMs = 5_000;

/**
 * @param indexes of all collections: those with the index of waiting records are drained
 * @param isReadOnly whether nothing may be handed over; then the log lacks the records of the last seconds
 * @param isMigrating whether indexes of earlier data are still being built; records wait, because finding them takes long
 */
export function createAuditFeature(
  database: PagedDatabase,
  indexes: readonly CollectionIndexes[],
  isReadOnly: boolean,
  isMigrating: () => boolean,
) {
  const drain = isReadOnly ? () => Promise.resolve() : createAuditDrain(database.db, indexes);
  const chores: readonly Chore[] = [
    { name: 'audit log', everyMs: drainEveryMs, run: async () => (isMigrating() ? undefined : await drain()) },
  ];
  return { chores, operations: auditOperations(createAuditStore(database), drain) };
}
