import type { PagedDatabase } from '../../src/storage/db/pages.ts';
import type { Relay } from '../../src/webhooks/events/outbox.ts';

/** A relay that sends nothing: it drops what waits. */
export function droppingRelay({ db }: PagedDatabase): Relay {
  const drop: Relay['relayNow'] = async (collection, id) => {
    await db.collection<{ _id: string }>(collection).updateOne({ _id: id }, { $set: { outbox: [] } });
  };
  return { nudge: (collection, id) => void drop(collection, id), relayNow: drop };
}
