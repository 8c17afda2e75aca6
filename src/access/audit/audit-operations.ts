import type { components } from '../../../generated/types.ts';
import type { AuditDocument } from '../../storage/db/audit.ts';
import { answerPage } from '../../http/list-answer.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { presentName, withPresentNames } from '../../base/fields/earlier-names.ts';
import { toInstant } from '../../base/runtime/instants.ts';
import { defined } from '../../base/runtime/objects.ts';
import type { AuditStore } from './audit-store.ts';
import { shownType, storedType } from './author.ts';

/** @param drain hands over the records that wait, so that a caller finds every change that was made before */
export function auditOperations(
  store: AuditStore,
  drain: () => Promise<void>,
): Pick<OperationHandlers, 'listAuditLog'> {
  return {
    async listAuditLog(input) {
      const {
        since,
        until,
        author_id: authorId,
        operation,
        resource_type: resourceType,
        resource_id: resourceId,
        request_id: requestId,
      } = input.query;
      return await answerPage(
        input,
        async () => {
          await drain();
          return store.list({
            since: toInstant(since),
            until: toInstant(until),
            resourceType: resourceType && storedType(resourceType),
            ...{ authorId, operation, resourceId, requestId },
          });
        },
        showRecord,
      );
    },
  };
}

function showRecord(document: AuditDocument): components['schemas']['AuditRecord'] {
  const { before, after } = document;
  return defined({
    id: document._id,
    created_at: document.at.toISOString(),
    operation: presentName(document.operation),
    author: document.author,
    session_id: document.session_id,
    // What this release wrote, or a later one.
    resource_type: shownType(document.resource_type) as components['schemas']['AuditRecord']['resource_type'],
    resource_id: document.resource_id,
    resource_name: document.resource_name,
    currency: document.currency,
    before: before === undefined ? undefined : readMembers(before),
    after: after === undefined ? undefined : readMembers(after),
    withheld: document.withheld,
    cut: document.cut,
    request_id: document.request_id,
    address: document.address,
  });
}

function readMembers(stored: string): Record<string, unknown> {
  return withPresentNames(JSON.parse(stored) as Record<string, unknown>);
}
