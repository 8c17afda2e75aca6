import type { Collection, Filter, UpdateFilter } from 'mongodb';
import type { CollectionIndexes } from '../../storage/db/indexes.ts';
import { expiryIndex } from '../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import { read, upsertOnce, writeIdempotently } from '../../storage/db/writes.ts';
import type { OutboxEntry } from '../events/event.ts';
import { outboxIndex, pushEvents, type OutboxCollection, type WithOutbox } from '../events/outbox.ts';

/** What was told about a receiver that fails. */
export interface Alert {
  readonly integrationId: string;
  /** The first failure. */
  readonly since: Date;
  /** Whether it was told when the integration will be disabled. */
  readonly isWarned: boolean;
  readonly isDisabled: boolean;
}

/**
 * `told`: the event is announced, now or before. `repeated`: one of this kind was announced in this hour already.
 * `full`: as many as an hour may have were announced.
 */
export type Announced = 'told' | 'repeated' | 'full';

export interface AlertStore {
  find(integrationIds: readonly string[]): Promise<Alert[]>;
  /** In the order of their integrations' ids, from after the given one. */
  list(after: Alert | undefined, limit: number): Promise<Alert[]>;
  put(alert: Alert): Promise<void>;
  remove(integrationId: string): Promise<void>;
  /**
   * Announces an event, at most one of a kind in an hour.
   * @param kind what it is about, and what it says
   * @param since distinguishes this from an earlier one of its kind
   * @param most of those that are counted in an hour; undefined if this one is not counted
   */
  announce(
    hour: string,
    kind: string,
    event: OutboxEntry,
    { since, most }: { readonly since: Date; readonly most: number | undefined },
  ): Promise<Announced>;
}

interface AlertDocument {
  _id: string;
  since: Date;
  warned?: true;
  disabled?: true;
}

/** What was announced in an hour. */
interface HourDocument extends WithOutbox {
  _id: string;
  count: number;
  /** By kind. */
  told: Record<string, Date>;
  expires_at: Date;
}

export const alertCollection: OutboxCollection = 'alerts';
const keptMs = 24 * 3_600_000;
/** On some servers the time for many ids grows with their square. */
const idsAtOnce = 100;

export const alertIndexes: CollectionIndexes = { collection: alertCollection, indexes: [outboxIndex, expiryIndex] };

export function createAlertStore({ db }: PagedDatabase): AlertStore {
  const alerts: Collection<AlertDocument> = db.collection(alertCollection);
  const hours: Collection<HourDocument> = db.collection(alertCollection);
  return {
    async find(integrationIds) {
      const found: AlertDocument[] = [];
      for (let start = 0; start < integrationIds.length; start += idsAtOnce) {
        const ids = integrationIds.slice(start, start + idsAtOnce);
        found.push(...(await read(() => alerts.find({ _id: { $in: ids } }).toArray())));
      }
      return found.map(fromDocument);
    },
    async list(after, limit) {
      const filter = { _id: { $gt: after?.integrationId ?? '' }, since: { $exists: true } };
      const found = await read(() => alerts.find(filter, { sort: { _id: 1 }, limit }).toArray());
      return found.map(fromDocument);
    },
    async put({ integrationId, since, isWarned, isDisabled }) {
      const document = {
        since,
        ...(isWarned && { warned: true as const }),
        ...(isDisabled && { disabled: true as const }),
      };
      await writeIdempotently(() => alerts.replaceOne({ _id: integrationId }, document, { upsert: true }));
    },
    async remove(integrationId) {
      await writeIdempotently(() => alerts.deleteOne({ _id: integrationId }));
    },
    async announce(hour, kind, event, { since, most }) {
      const id = `hour/${hour}`;
      const expires_at = new Date(Date.parse(hour) + keptMs);
      await upsertOnce(hours, { _id: id, count: 0, told: {}, outbox: [], expires_at });
      const filter = {
        _id: id,
        [`told.${kind}`]: { $exists: false },
        ...(most !== undefined && { count: { $lt: most } }),
      };
      const change = {
        $set: { [`told.${kind}`]: since },
        $push: pushEvents([event]),
        ...(most !== undefined && { $inc: { count: 1 } }),
      };
      await writeIdempotently(() =>
        hours.updateOne(filter as Filter<HourDocument>, change as unknown as UpdateFilter<HourDocument>),
      );
      const found = await read(() => hours.findOne({ _id: id }, { projection: { told: 1 } }));
      const told = found?.told[kind];
      if (told === undefined) return 'full';
      return told.getTime() === since.getTime() ? 'told' : 'repeated';
    },
  };
}

function fromDocument({ _id, since, warned, disabled }: AlertDocument): Alert {
  return { integrationId: _id, since, isWarned: warned === true, isDisabled: disabled === true };
}
