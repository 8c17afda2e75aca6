/**
 * Leases of idempotency keys, without comparing clocks. The process that works on a request increments the beat of its
 * record. Another process can take the record over after it has seen the beat unchanged for the record's term on its
 * own monotonic clock.
 */
import { createStalenessWatch } from '../../base/runtime/staleness-watch.ts';
import type { IdempotencyRecord } from './idempotency-store.ts';

/** The term of a record, in milliseconds, if the work only writes to the database, because this can be repeated. */
export const writeTermMs = 5_000;
/** Milliseconds between two beats. */
const beatMs = 1_500;

/** What a process that waits for a record knows after reading it. */
export interface Observation {
  /** Milliseconds until the record can be taken over if its owner has died; 0 if it can be taken over now. */
  readonly leftMs: number;
  /** Whether the record has changed since the last read, which means that a process works on it. */
  readonly isAlive: boolean;
}

/** Remembers since when the records of other processes have not changed. */
export interface LeaseWatch {
  /** @param readAt when the read began, on the monotonic clock */
  observe(record: IdempotencyRecord, readAt: number): Observation;
}

export function createLeaseWatch(monotonic: () => number): LeaseWatch {
  const watch = createStalenessWatch(monotonic);
  return {
    observe({ id, owner, beat, termMs, isGivenUp }, readAt) {
      if (isGivenUp) return { leftMs: 0, isAlive: false };
      const { unchangedMs, hasMoved } = watch.observe(id, `${owner} ${beat}`, readAt);
      return { leftMs: Math.max(0, termMs - unchangedMs), isAlive: hasMoved };
    },
  };
}

/** The records that this process works on. */
export interface HeldLeases {
  /** Starts to increment the record's beat. */
  hold(record: IdempotencyRecord): void;
  drop(record: IdempotencyRecord): void;
  holds(record: IdempotencyRecord): boolean;
}

/** @param beat increments the beats of some records; the next call repeats a failed one */
export function createHeldLeases(
  beat: (records: readonly IdempotencyRecord[]) => Promise<void>,
  monotonic: () => number,
): HeldLeases {
  const held = new Map<string, { record: IdempotencyRecord; since: number }>();
  let timer: NodeJS.Timeout | undefined;
  let isBeating = false;

  const tick = async (): Promise<void> => {
    // Most requests are answered before their first beat is due.
    const due = [...held.values()].filter(({ since }) => monotonic() - since >= beatMs / 2);
    if (isBeating || due.length === 0) return;
    isBeating = true;
    await beat(due.map(({ record }) => record)).catch(() => undefined);
    isBeating = false;
  };
  return {
    hold(record) {
      held.set(record.owner, { record, since: monotonic() });
      timer ??= setInterval(() => void tick(), beatMs).unref();
    },
    drop({ owner }) {
      held.delete(owner);
      if (held.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
    holds: ({ owner }) => held.has(owner),
  };
}
