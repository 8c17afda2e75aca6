import type { Collection, Filter, UpdateFilter } from 'mongodb';
import type { Database } from '../../storage/db/client.ts';
import { read, writeIdempotently } from '../../storage/db/writes.ts';
import type { OutboxEntry } from '../events/event.ts';
import { fromOutboxDocuments, waitingFilter, type OutboxCollection, type WithOutbox } from '../events/outbox.ts';

/** A document with its waiting events. */
export interface Outbox {
  /** Of the document. */
  readonly id: string;
  readonly entries: readonly OutboxEntry[];
}

/** The outboxes of business documents of all kinds. */
export interface OutboxStore {
  /** Events that wait in these documents. */
  read(collection: OutboxCollection, documentIds: readonly string[]): Promise<Outbox[]>;
  /** Removes events from these documents. A repetition changes nothing. */
  pull(collection: OutboxCollection, documentIds: readonly string[], eventIds: readonly string[]): Promise<void>;
  /** Some documents with waiting events. */
  waiting(collection: OutboxCollection, limit: number, except: readonly string[]): Promise<string[]>;
}

/** A document that an earlier release created has no outbox. */
interface OutboxHolder extends Partial<WithOutbox> {
  _id: string;
}

export function createOutboxStore(database: Database): OutboxStore {
  const holders = (name: OutboxCollection): Collection<OutboxHolder> => database.db.collection(name);
  const isWaiting = waitingFilter as Filter<OutboxHolder>;

  return {
    async read(collection, documentIds) {
      const filter: Filter<OutboxHolder> = { _id: { $in: [...documentIds] } };
      const found = await read(() =>
        holders(collection)
          .find(filter, { projection: { outbox: 1 } })
          .toArray(),
      );
      return found.map(({ _id, outbox = [] }) => ({ id: _id, entries: fromOutboxDocuments(outbox) }));
    },
    async pull(collection, documentIds, eventIds) {
      const change = { $pull: { outbox: { id: { $in: [...eventIds] } } } } as unknown as UpdateFilter<OutboxHolder>;
      await writeIdempotently(() => holders(collection).updateMany({ _id: { $in: [...documentIds] } }, change));
    },
    async waiting(collection, limit, except) {
      const filter = except.length === 0 ? isWaiting : { ...isWaiting, _id: { $nin: [...except] } };
      const options = { projection: { _id: 1 }, limit };
      const found = await read(() => holders(collection).find(filter, options).toArray());
      return found.map(({ _id }) => _id);
    },
  };
}
