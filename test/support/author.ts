import { auditEntry, type Author } from '../../src/access/audit/author.ts';
import type { AuditEntry } from '../../src/storage/db/audit.ts';

/** Who changes something in a test without requests. */
export const someone: Author = {
  operationId: 'test',
  requestId: 'test',
  traceparent: undefined,
  principal: { kind: 'key', id: 'administrator', name: 'administrator' },
  caller: {},
};

/** The record of an operator's change, for tests of stores. */
export function someEntry(): AuditEntry {
  const kind = { type: 'integration', show: () => ({}) } as const;
  return auditEntry(someone, kind, { at: new Date(), after: { id: 'test' } });
}
