import { setTimeout as sleep } from 'node:timers/promises';
import { doApart, isOutage } from '../../base/errors/outage.ts';
import { createBatcher } from '../batcher.ts';
import type { WebhookLog } from '../observer.ts';
import type { WebhookTiming } from '../timing.ts';
import type { StampedAttempt } from './delivery.ts';
import type { DeliveryStore, FailureSettlement } from './delivery-store.ts';
import type { Clock } from '../../base/runtime/clock.ts';

/** The result of an attempt. */
export interface Settlement {
  readonly attempt: StampedAttempt;
  /** Undefined if the receiver has the event. */
  readonly failure: FailureSettlement | undefined;
}

/** Writes results of attempts, many at a time. */
export interface Settlements {
  /**
   * Resolves when the result is written, even after a long outage of the database, or when it is abandoned.
   * @returns false if it cannot be written, which is logged: the delivery is still due in the database
   */
  add(settlement: Settlement): Promise<boolean>;
  /** No write is repeated after it: other processes repeat the attempts whose results were not written. */
  abandon(): void;
}

type Write = (some: readonly Settlement[]) => Promise<void>;

interface Waiting {
  readonly settlement: Settlement;
  isWritten: boolean;
}

/** On some servers the time for many ids grows with their square. */
const largestBatch = 100;
/** A batch whose confirmation takes long does not hold up the others. */
const batchesAtOnce = 4;
const pauseMs = 250;

export function createSettlements(
  store: DeliveryStore,
  { retention }: Pick<WebhookTiming, 'retention'>,
  clock: Clock,
  log: WebhookLog,
): Settlements {
  let abandoned = false;

  const record: Write = async (batch) => {
    // A delivery is kept from its end; its schedule can begin four days earlier.
    const expiresAt = new Date(clock.now().getTime() + retention + 5 * 86_400_000);
    await store.recordAttempts(
      batch.map(({ attempt }) => attempt),
      expiresAt,
    );
  };
  const settle: Write = async (batch) => {
    const at = clock.now();
    const expiresAt = new Date(at.getTime() + retention);
    const delivered = batch.flatMap(({ attempt, failure }) => (failure === undefined ? [attempt.deliveryId] : []));
    const failed = batch.flatMap(({ failure }) => failure ?? []);
    await Promise.all([
      ...(delivered.length === 0 ? [] : [store.settleDelivered(delivered, at, expiresAt)]),
      ...(failed.length === 0 ? [] : [store.settleFailed(failed, at, expiresAt)]),
    ]);
  };

  const duringOutages = async (batch: readonly Settlement[], write: Write): Promise<void> => {
    for (;;) {
      try {
        await write(batch);
        return;
      } catch (error) {
        if (!isOutage(error)) throw error;
        log.warn({ error, deliveries: batch.length }, 'results of deliveries could not be written; retrying');
        if (abandoned) return;
        await sleep(pauseMs);
      }
    }
  };
  /** @returns those that cannot be written */
  const persist = async (batch: readonly Settlement[], write: Write): Promise<Settlement[]> => {
    const refused: Settlement[] = [];
    await doApart(
      batch,
      (some) => duringOutages(some, write),
      (settlement, error) => {
        const { integrationId, deliveryId } = settlement.attempt;
        const ids = { integration_id: integrationId, delivery_id: deliveryId };
        log.error({ error, ...ids }, 'the result of a delivery cannot be written');
        refused.push(settlement);
      },
    );
    return refused;
  };

  /** Those whose attempt is not recorded are settled all the same. */
  const writeAll = async (batch: readonly Waiting[]): Promise<void> => {
    const settlements = batch.map(({ settlement }) => settlement);
    const [left] = await Promise.all([persist(settlements, settle), persist(settlements, record)]);
    const unwritten = new Set(left);
    for (const one of batch) one.isWritten = !unwritten.has(one.settlement);
  };
  const batcher = createBatcher<Waiting>(writeAll, largestBatch, batchesAtOnce);

  return {
    async add(settlement) {
      const waiting = { settlement, isWritten: false };
      await batcher.add(waiting);
      return waiting.isWritten;
    },
    abandon() {
      abandoned = true;
    },
  };
}
