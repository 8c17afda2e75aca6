import type { Collection, Document } from 'mongodb';
import type { Database } from '../../db/client.ts';
import { sampling } from '../../db/narrow-reads.ts';
import { read } from '../../db/writes.ts';
import type { Waiting } from '../../integrations/condition.ts';
import { shareReads } from '../../shared-reads.ts';
import type { DeliveryDocument } from '../deliveries/documents.ts';

/** Finds out what waits to be sent. */
export interface WaitingStore {
  /**
   * What waits for each of some integrations; nothing is said of those for which nothing waits. Callers that want the
   * same at the same time share the reads.
   */
  find(integrationIds: readonly string[], now: Date): Promise<ReadonlyMap<string, Waiting>>;
}

/** What waits for an integration, in two groups: what is due, and what is not. */
interface Group {
  readonly _id: { readonly id: string; readonly is_due: boolean };
  readonly count: number;
  readonly oldest_at: Date;
  readonly due_since: Date;
}

/** From so many samples on, some 500 deliveries, the samples alone tell. */
const manySamples = 8;
/** Integrations without a sample that one command counts. */
const idleAtOnce = 64;

/**
 * Samples are counted for all integrations by one command. Where there are few, all deliveries are counted: by commands
 * that match some 500 documents each (see `db/narrow-reads.ts`).
 */
export function createWaitingStore(database: Database): WaitingStore {
  const deliveries: Collection<DeliveryDocument> = database.db.collection('deliveries');

  const groups = (field: 'lane' | 'lane_sample', ids: readonly string[], now: Date): Promise<Group[]> => {
    const stages: Document[] = [
      { $match: { [field]: ids.length === 1 ? ids[0] : { $in: [...ids] } } },
      {
        $group: {
          _id: { id: `$${field}`, is_due: { $lte: ['$next_attempt_at', now] } },
          count: { $sum: 1 },
          oldest_at: { $min: '$created_at' },
          // A first try is due a day early (see firstDue).
          due_since: { $min: { $max: ['$created_at', '$next_attempt_at'] } },
        },
      },
    ];
    return read(() => deliveries.aggregate<Group>(stages).toArray());
  };

  const find = shareReads(async (key: string, now: Date): Promise<ReadonlyMap<string, Waiting>> => {
    const ids = key.split(' ');
    const estimates = toWaiting(await groups('lane_sample', ids, now), sampling);
    const samplesOf = (id: string): number => (estimates.get(id)?.count ?? 0) / sampling;
    const found = new Map([...estimates].filter(([id]) => samplesOf(id) >= manySamples));
    const few = ids.filter((id) => !found.has(id));
    for (const some of batches(few, samplesOf)) {
      for (const [id, waiting] of toWaiting(await groups('lane', some, now), 1)) found.set(id, waiting);
    }
    return found;
  });

  return {
    find: (ids, now) => (ids.length === 0 ? Promise.resolve(new Map()) : find(ids.join(' '), now)),
  };
}

/** @param weight deliveries that one of the counted stands for */
function toWaiting(groups: readonly Group[], weight: number): Map<string, Waiting> {
  const waiting = new Map<string, Waiting>();
  for (const { _id, count: counted, oldest_at: oldestAt, due_since: since } of groups) {
    const before = waiting.get(_id.id);
    const count = counted * weight;
    waiting.set(_id.id, {
      count: (before?.count ?? 0) + count,
      oldestAt: before === undefined || oldestAt < before.oldestAt ? oldestAt : before.oldestAt,
      isEstimated: weight > 1,
      due: _id.is_due ? { count, since } : before?.due,
      later: _id.is_due ? before?.later : { count, oldestAt },
    });
  }
  return waiting;
}

/** Groups integrations so that each group has about as many deliveries as one command may match. */
function batches(ids: readonly string[], samplesOf: (id: string) => number): string[][] {
  const made: string[][] = [];
  let room = 0;
  for (const id of ids) {
    const share = Math.max(samplesOf(id) / manySamples, 1 / idleAtOnce);
    if (share > room) {
      made.push([]);
      room = 1;
    }
    made.at(-1)?.push(id);
    room -= share;
  }
  return made;
}
