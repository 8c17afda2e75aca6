import type { Collection, Document } from 'mongodb';
import type { Database } from '../../db/client.ts';
import { sampling } from '../../db/narrow-reads.ts';
import { read } from '../../db/writes.ts';
import type { Waiting } from '../../integrations/condition.ts';
import { shareReads } from '../../runtime/shared-reads.ts';
import type { DeliveryDocument } from '../deliveries/delivery-documents.ts';

/** Finds the deliveries that wait. */
export interface WaitingStore {
  /** What waits for an integration; undefined when nothing does. Callers that want the same share the reads. */
  find(integrationId: string, now: Date): Promise<Waiting | undefined>;
}

/** What waits for an integration, in two groups: what is due, and what is not. */
interface Group {
  /** Whether they are due. */
  readonly _id: boolean;
  readonly count: number;
  readonly oldest_at: Date;
  readonly due_since: Date;
}

/** From so many samples on, some 500 deliveries, the samples alone tell. */
const manySamples = 8;

/**
 * Where there are few samples, all deliveries are counted: some 500 at most. One command for each integration, because
 * there are servers that look through all documents for a list of integrations (see `db/narrow-reads.ts`).
 */
export function createWaitingStore(database: Database): WaitingStore {
  const deliveries: Collection<DeliveryDocument> = database.db.collection('deliveries');

  const groups = (field: 'lane' | 'lane_sample', id: string, now: Date): Promise<Group[]> => {
    const stages: Document[] = [
      { $match: { [field]: id } },
      {
        $group: {
          _id: { $lte: ['$next_attempt_at', now] },
          count: { $sum: 1 },
          oldest_at: { $min: '$created_at' },
          // A first attempt is due a day early (see firstDue).
          due_since: { $min: { $max: ['$created_at', '$next_attempt_at'] } },
        },
      },
    ];
    return read(() => deliveries.aggregate<Group>(stages).toArray());
  };

  return {
    find: shareReads(async (id: string, now: Date) => {
      const samples = await groups('lane_sample', id, now);
      const isEstimated = samples.reduce((sum, { count }) => sum + count, 0) >= manySamples;
      return isEstimated ? toWaiting(samples, sampling) : toWaiting(await groups('lane', id, now), 1);
    }),
  };
}

/** @param weight deliveries that one of the counted stands for */
function toWaiting(groups: readonly Group[], weight: number): Waiting | undefined {
  if (groups.length === 0) return undefined;
  const due = groups.find(({ _id: isDue }) => isDue);
  const later = groups.find(({ _id: isDue }) => !isDue);
  return {
    count: groups.reduce((sum, { count }) => sum + count * weight, 0),
    oldestAt: new Date(Math.min(...groups.map(({ oldest_at }) => oldest_at.getTime()))),
    isEstimated: weight > 1,
    due: due === undefined ? undefined : { count: due.count * weight, since: due.due_since },
    later: later === undefined ? undefined : { count: later.count * weight, oldestAt: later.oldest_at },
  };
}
