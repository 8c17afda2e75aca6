import type { AnyBulkWriteOperation, Collection } from 'mongodb';
import { defined } from '../../base/runtime/objects.ts';
import { dayMs } from '../../base/runtime/intervals.ts';
import type { ProviderFailure, ProviderHealth } from '../../models/provider-health.ts';
import { upsertAll } from '../../storage/db/bulk-writes.ts';
import { expiryIndex, type CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import { read } from '../../storage/db/writes.ts';

/** When a call failed first, and when its invocation began. They are compared in the order of the members. */
interface FirstFailure {
  readonly at: Date;
  readonly began: Date;
}

/** What a process has seen of a provider since it last wrote. Failures came after the success. */
export interface ProviderNews {
  readonly succeededAt?: Date;
  readonly failingSince?: FirstFailure;
  readonly failure?: ProviderFailure;
}

/** Every method can throw `database-unavailable`. */
export interface ProviderHealthStore {
  /** Adds what a process has seen, by provider. A repetition changes nothing. */
  write(news: ReadonlyMap<string, ProviderNews>): Promise<void>;
  find(providers: readonly string[]): Promise<Map<string, ProviderHealth>>;
}

/** The health of a provider, under its id. `failing_since` and `failure` only count if they are after `succeeded_at`. */
interface ProviderHealthDocument {
  _id: string;
  succeeded_at?: Date;
  failing_since?: FirstFailure;
  failure?: ProviderFailure;
  expires_at: Date;
}

const collectionName = 'provider_health';
const keptMs = 30 * dayMs;

export const providerHealthIndexes: CollectionIndexes = { collection: collectionName, indexes: [expiryIndex] };

export function createProviderHealthStore({ db }: PagedDatabase): ProviderHealthStore {
  const collection: Collection<ProviderHealthDocument> = db.collection(collectionName);
  return {
    async write(news) {
      await upsertAll(collection, [...news].map(toWrite));
    },
    async find(providers) {
      const found = await read(() => collection.find({ _id: { $in: [...providers] } }).toArray());
      return new Map(found.map((document) => [document._id, fromDocument(document)]));
    },
  };
}

function toWrite([_id, news]: readonly [string, ProviderNews]): AnyBulkWriteOperation<ProviderHealthDocument> {
  const { succeededAt, failingSince, failure } = news;
  const last = failure?.at ?? succeededAt ?? new Date(0);
  const isBegun = succeededAt !== undefined && failingSince !== undefined;
  return {
    updateOne: {
      filter: { _id },
      update: {
        $set: {
          expires_at: new Date(last.getTime() + keptMs),
          ...(failure && { failure: defined(failure) as ProviderFailure }),
          ...(isBegun && { failing_since: failingSince }),
        },
        ...(succeededAt && { $max: { succeeded_at: succeededAt } }),
        ...(failingSince === undefined && { $unset: { failing_since: true } }),
        ...(failingSince !== undefined && !isBegun && { $min: { failing_since: failingSince } }),
      },
      upsert: true,
    },
  };
}

function fromDocument({ succeeded_at, failing_since, failure }: ProviderHealthDocument): ProviderHealth {
  const succeeded = succeeded_at ?? new Date(0);
  const isFailing = failure !== undefined && failure.at > succeeded;
  const since = failing_since !== undefined && failing_since.at > succeeded ? failing_since.began : failure?.at;
  return { lastSuccessAt: succeeded_at, lastFailure: failure, failingSince: isFailing ? since : undefined };
}
