import { setTimeout as sleep } from 'node:timers/promises';
import { isolateFailures, isOutage } from '../../base/errors/outage.ts';
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
   * @throws {Error} why it cannot be written: the delivery is still due in the database
   */
  add(settlement: Settlement): Promise<void>;
  /** No write is repeated after it: other processes repeat the attempts whose results were not written. */
  abandon(): void;
}

type Write = (some: readonly Settlement[]) => Promise<void>;

interface Waiting {
  readonly settlement: Settlement;
  /** Set if it cannot be written. */
  refusal?: { readonly error: unknown };
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
  const persist = (
    batch: readonly Waiting[],
    write: Write,
    onRefused: (one: Waiting, error: unknown) => void,
  ): Promise<void> => {
    const writeSome = (some: readonly Waiting[]): Promise<void> =>
      duringOutages(
        some.map(({ settlement }) => settlement),
        write,
      );
    return isolateFailures(batch, writeSome, onRefused);
  };

  /** Those whose attempt is not recorded are settled all the same. */
  const writeAll = async (batch: readonly Waiting[]): Promise<void> => {
    await Promise.all([
      persist(batch, settle, (one, error) => (one.refusal = { error })),
      persist(batch, record, ({ settlement: { attempt } }, error) => {
        const ids = { integration_id: attempt.integrationId, delivery_id: attempt.deliveryId };
        log.error({ error, ...ids }, 'an attempt cannot be recorded');
      }),
    ]);
  };
  const batcher = createBatcher<Waiting>(writeAll, largestBatch, batchesAtOnce);

  return {
    async add(settlement) {
      const waiting: Waiting = { settlement };
      await batcher.add(waiting);
      if (waiting.refusal !== undefined) throw waiting.refusal.error;
    },
    abandon() {
      abandoned = true;
    },
  };
}
