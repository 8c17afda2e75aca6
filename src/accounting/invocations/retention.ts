import type { Clock } from '../../base/runtime/clock.ts';
import { dayMs } from '../../base/runtime/intervals.ts';
import { dayOf, startOfDay, timeOf } from './invocation-id.ts';
import type { ContentStore } from './content-store.ts';
import type { InvocationStore } from './invocation-store.ts';
import type { JournalStore } from './journal-store.ts';

export interface RetentionDependencies {
  readonly store: Pick<InvocationStore, 'prepare' | 'days' | 'drop'>;
  readonly contents: Pick<ContentStore, 'days' | 'drop'>;
  readonly journals: Pick<JournalStore, 'entryIds'>;
  readonly clock: Pick<Clock, 'now'>;
  /** How long records are kept, in milliseconds. */
  readonly retentionMs: number;
  /** How long contents are kept, at most as long as their records. */
  readonly contentRetentionMs: number;
  /** Until when all costs are added up, in milliseconds since 1970; undefined if none are. */
  readonly addedUpUntil: () => Promise<number | undefined>;
}

/**
 * Creates the work that makes the collection of the next day, and drops those of days that are no longer kept: contents,
 * and records when their costs are added up.
 */
export function createRetention({
  store,
  contents,
  journals,
  clock,
  retentionMs,
  contentRetentionMs,
  addedUpUntil,
}: RetentionDependencies): () => Promise<void> {
  return async () => {
    const now = clock.now().getTime();
    await store.prepare(dayOf(now + dayMs));
    // One more, so that each is kept for the whole time.
    const firstOf = (keptMs: number): string => dayOf(now - keptMs - dayMs);
    const firstContent = firstOf(Math.min(contentRetentionMs, retentionMs));
    for (const day of await contents.days()) if (day < firstContent) await contents.drop(day);
    const first = firstOf(retentionMs);
    const old = (await store.days()).filter((day) => day < first);
    if (old.length === 0) return;
    const named = new Set((await journals.entryIds()).map((id) => dayOf(timeOf(id) ?? now)));
    const addedUp = (await addedUpUntil()) ?? 0;
    for (const day of old) if (!named.has(day) && startOfDay(day) + dayMs <= addedUp) await store.drop(day);
  };
}
