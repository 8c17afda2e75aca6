import { setTimeout as sleep } from 'node:timers/promises';
import { ProblemError } from '../errors/problem-error.ts';
import { within } from '../runtime/within.ts';
import type { InvocationDocument } from './invocation.ts';
import type { InvocationStore } from './invocation-store.ts';

/** Stores records in batches, some milliseconds after they are final. */
export interface RecordWriter {
  /**
   * @param isKept whether the record is kept until it is stored. Others are dropped if too many wait
   * @param onGone called when it was stored, or dropped
   */
  add(document: InvocationDocument, isKept: boolean, onGone: () => void): void;
  /** Resolves when all that were added are stored, or after a second. */
  flush(): Promise<void>;
  /** Stores what is left, within this time. */
  close(limitMs: number): Promise<void>;
}

export interface RecordWriterDependencies {
  readonly store: Pick<InvocationStore, 'insert'>;
  readonly onError: (error: unknown) => void;
}

interface Waiting {
  readonly document: InvocationDocument;
  readonly isKept: boolean;
  readonly onGone: () => void;
}

/**
 * How long the first record of a batch waits for others, in milliseconds. What waits when a process is killed is
 * recorded as interrupted, from its journal.
 */
const gatherMs = 50;
const mostTogether = 500;
/** Records that wait while the database is away. */
const mostWaiting = 10_000;
const pauseMs = 500;
const flushMs = 1_000;

export function createRecordWriter({ store, onError }: RecordWriterDependencies): RecordWriter {
  let waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let isClosed = false;

  const writeSome = async (): Promise<void> => {
    const some = waiting.slice(0, mostTogether);
    try {
      await store.insert(some.map(({ document }) => document));
    } catch (error) {
      if (error instanceof ProblemError) {
        await sleep(pauseMs, undefined, { ref: false });
        return;
      }
      // A mistake, which a repetition does not correct.
      onError(error);
    }
    const gone = new Set(some);
    waiting = waiting.filter((one) => !gone.has(one));
    for (const { onGone } of some) onGone();
  };
  const schedule = (): void => {
    if (isClosed || writing !== undefined || waiting.length === 0) return;
    timer ??= setTimeout(() => void write(), gatherMs);
  };
  const write = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    return (writing ??= writeSome().finally(() => {
      writing = undefined;
      schedule();
    }));
  };
  const writeAll = async (): Promise<void> => {
    const last = waiting.at(-1);
    while (!isClosed && last !== undefined && waiting.includes(last)) await write();
  };

  return {
    add(document, isKept, onGone) {
      if (waiting.length >= mostWaiting) {
        const dropped = isKept ? waiting.findIndex((one) => !one.isKept) : -1;
        if (!isKept) {
          onGone();
          return;
        }
        if (dropped >= 0) waiting.splice(dropped, 1)[0]?.onGone();
      }
      waiting.push({ document, isKept, onGone });
      schedule();
    },
    flush: () => within(flushMs, writeAll(), () => undefined),
    async close(limitMs) {
      await within(limitMs, writeAll(), () => undefined);
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
