import type { Condition } from './condition.ts';
import type { Integration } from './integration.ts';

/** The entity tag of an integration. It changes whenever its representation changes. */
export function entityTag({ id, revision }: Integration, condition: Condition): string {
  const { consecutiveFailures, successRate, lastAttemptAt, retryingUntil, waiting } = condition;
  const waits = waiting === undefined ? [] : [waiting.count, waiting.oldestAt.getTime(), Number(waiting.isEstimated)];
  const times = [lastAttemptAt?.getTime() ?? '', retryingUntil?.getTime() ?? ''];
  const shown = [consecutiveFailures, successRate ?? '', ...times, ...waits].join('-').replace(/-+$/, '');
  return `"${id}.${revision}.${shown}"`;
}
