import { ifMatch } from '../http/conditional.ts';
import type { Condition } from './condition.ts';
import type { Integration } from './integration.ts';

/** The entity tag of an integration: another one whenever what is shown of it is another. */
export function entityTag({ id, revision }: Integration, condition: Condition): string {
  const { consecutiveFailures, retryingUntil, waiting } = condition;
  const waits = waiting === undefined ? [] : [waiting.count, waiting.oldestAt.getTime(), Number(waiting.isEstimated)];
  const shown = [consecutiveFailures, retryingUntil?.getTime() ?? '', ...waits].join('-').replace(/-$/, '');
  return `"${id}.${revision}.${shown}"`;
}

/**
 * Does an `If-Match` field let an edit pass? Failures and what waits are left out of the comparison: an edit overwrites none
 * of them, and they change so often that they would have every edit fail.
 */
export function matchesTag(field: string | undefined, { id, revision }: Integration): boolean {
  const withoutFailures = field?.replace(/"([0-9a-f-]{36}\.\d+)\.[\d-]+"/g, '"$1"');
  return ifMatch(withoutFailures, `"${id}.${revision}"`);
}
