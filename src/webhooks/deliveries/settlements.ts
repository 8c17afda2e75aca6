import { setTimeout as sleep } from 'node:timers/promises';
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
  /** Resolves when the result is written, even after a long outage of the database, or when it is abandoned. */
  add(settlement: Settlement): Promise<void>;
  /** No write is repeated after it: other processes repeat the attempts whose results were not written. */
  abandon(): void;
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

  const write = async (batch: readonly Settlement[]): Promise<void> => {
    const at = clock.now();
    const expiresAt = new Date(at.getTime() + retention);
    const delivered = batch.flatMap(({ attempt, failure }) => (failure === undefined ? [attempt.deliveryId] : []));
    const failed = batch.flatMap(({ failure }) => failure ?? []);
    const attempts = batch.map(({ attempt }) => attempt);
    await Promise.all([
      // A delivery is kept from its end; its schedule can begin four days earlier.
      store.recordAttempts(attempts, new Date(expiresAt.getTime() + 5 * 86_400_000)),
      ...(delivered.length === 0 ? [] : [store.settleDelivered(delivered, at, expiresAt)]),
      ...(failed.length === 0 ? [] : [store.settleFailed(failed, at, expiresAt)]),
    ]);
  };

  /** Repeats until it is written. */
  const writeAll = async (batch: readonly Settlement[]): Promise<void> => {
    for (;;) {
      try {
        await write(batch);
        return;
      } catch (error) {
        log.warn({ error, deliveries: batch.length }, 'results of deliveries could not be written; retrying');
        if (abandoned) return;
        await sleep(pauseMs);
      }
    }
  };
  const batcher = createBatcher<Settlement>(writeAll, largestBatch, batchesAtOnce);

  return {
    add: (settlement) => batcher.add(settlement),
    abandon() {
      abandoned = true;
    },
  };
}
