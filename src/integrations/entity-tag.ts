import { ifMatch } from '../http/conditional.ts';
import type { Condition } from './condition.ts';
import type { Integration } from './integration.ts';

/** The entity tag of an integration: another one after each write, and after each failed try to deliver. */
export function entityTag({ id, revision }: Integration, condition: Condition): string {
  const { consecutiveFailures, retryingUntil } = condition;
  return `"${id}.${revision}.${consecutiveFailures}${retryingUntil === undefined ? '' : `-${retryingUntil.getTime()}`}"`;
}

/**
 * Does an `If-Match` field let an edit pass? Failures are left out of the comparison: an edit overwrites none of them,
 * and while a receiver is failing they would have every edit fail, too.
 */
export function matchesTag(field: string | undefined, { id, revision }: Integration): boolean {
  const withoutFailures = field?.replace(/"([0-9a-f-]{36}\.\d+)\.[\d-]+"/g, '"$1"');
  return ifMatch(withoutFailures, `"${id}.${revision}"`);
}
