import type { Collection } from 'mongodb';
import type { DueGroups, PagedDatabase } from '../../storage/db/pages.ts';
import type { WaitingSummary } from '../integrations/condition.ts';
import { shareReads } from '../../base/runtime/shared-reads.ts';
import type { DeliveryDocument } from '../deliveries/delivery-documents.ts';

/** Finds waiting deliveries. */
export interface WaitingStore {
  /**
   * The waiting deliveries of an integration; undefined if there are none. Callers that ask at the same time share the
   * reads.
   */
  find(integrationId: string, now: Date): Promise<WaitingSummary | undefined>;
  /** The waiting deliveries of all integrations that have some, by id. Large numbers are estimates. */
  findAll(now: Date): Promise<ReadonlyMap<string, WaitingSummary>>;
}

/** Of a group of waiting deliveries. */
interface Times {
  readonly oldest_at: Date;
  readonly due_since: Date;
}

const times = {
  oldest_at: { $min: '$created_at' },
  // A first attempt is due a day early (see firstDue).
  due_since: { $min: { $max: ['$created_at', '$next_attempt_at'] } },
};

export function createWaitingStore(database: PagedDatabase): WaitingStore {
  const deliveries: Collection<DeliveryDocument> = database.db.collection('deliveries');
  return {
    find: shareReads(async (id: string, now: Date): Promise<WaitingSummary | undefined> => {
      const source = { collection: deliveries, where: { lane: id }, time: 'next_attempt_at' } as const;
      return toWaiting(await database.pages.groupByDue<DeliveryDocument, Times>(source, now, times));
    }),
    async findAll(now) {
      const divided = { collection: deliveries, field: 'lane', time: 'next_attempt_at' } as const;
      const groups = await database.pages.groupAllByDue<DeliveryDocument, Times>(divided, now, times);
      const found = new Map<string, WaitingSummary>();
      for (const [id, group] of groups) {
        const waiting = toWaiting(group);
        if (waiting !== undefined) found.set(id, waiting);
      }
      return found;
    },
  };
}

function toWaiting({ due, later, isEstimated }: DueGroups<Times>): WaitingSummary | undefined {
  const oldest = [due, later].flatMap((group) => group?.oldest_at.getTime() ?? []);
  if (oldest.length === 0) return undefined;
  return {
    count: (due?.count ?? 0) + (later?.count ?? 0),
    oldestAt: new Date(Math.min(...oldest)),
    isEstimated,
    due: due && { count: due.count, since: due.due_since },
    later: later && { count: later.count, oldestAt: later.oldest_at },
  };
}
