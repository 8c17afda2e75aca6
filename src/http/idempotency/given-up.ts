import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage } from '../../base/errors/outage.ts';
import type { IdempotencyRecord, IdempotencyStore } from './idempotency-store.ts';

/** The most records to be given up at the same time. During an outage of the database their number grows. */
const maxWaiting = 10_000;
const pauseMs = 500;

/** Gives up records one after the other, even during a long outage of the database. */
export interface GivenUp {
  /** Resolves when this record, and those before it, are given up. */
  add(record: IdempotencyRecord): Promise<void>;
  stop(): void;
}

/** @param onError called with what is not repeated; the record ends by its term then */
export function createGivenUp(
  store: Pick<IdempotencyStore, 'giveUp'>,
  onError: (error: unknown, recordId: string) => void,
): GivenUp {
  const waiting = new Map<string, IdempotencyRecord>();
  let work: Promise<void> | undefined;
  let isStopped = false;

  const giveUpAll = async (): Promise<void> => {
    for (const [owner, record] of waiting) {
      while (!isStopped && waiting.has(owner)) {
        try {
          await store.giveUp(record);
          break;
        } catch (error) {
          if (!isOutage(error)) {
            onError(error, record.id);
            break;
          }
          await sleep(pauseMs);
        }
      }
      waiting.delete(owner);
    }
    work = undefined;
  };
  return {
    add(record) {
      waiting.set(record.owner, record);
      const [oldest] = waiting.keys();
      // Records beyond the limit end by their term.
      if (waiting.size > maxWaiting && oldest !== undefined) waiting.delete(oldest);
      return (work ??= giveUpAll());
    },
    stop() {
      isStopped = true;
    },
  };
}
