import type { Collection, Document } from 'mongodb';
import type { Database } from '../../db/client.ts';
import { sampling } from '../../db/narrow-reads.ts';
import { read } from '../../db/writes.ts';
import type { Waiting } from '../../integrations/condition.ts';
import { shareReads } from '../../runtime/shared-reads.ts';
import type { DeliveryDocument } from '../deliveries/delivery-documents.ts';

/** Finds waiting deliveries. */
export interface WaitingStore {
  /**
   * The waiting deliveries of an integration; undefined if there are none. Callers that ask at the same time share the
   * reads.
   */
  find(integrationId: string, now: Date): Promise<Waiting | undefined>;
}

/** The waiting deliveries of an integration in two groups: due, and not due. */
interface Group {
  /** Whether they are due. */
  readonly _id: boolean;
  readonly count: number;
  readonly oldest_at: Date;
  readonly due_since: Date;
}

/** With at least this many samples (about 500 deliveries), only the samples are counted. */
const manySamples = 8;

/**
 * With few samples, all deliveries are counted: at most about 500. One command for each integration, because some
 * servers read all documents for a list of integrations (see `db/narrow-reads.ts`).
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

/** @param weight the number of deliveries that each counted one represents */
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
