import { setTimeout as sleep } from 'node:timers/promises';
import { isolateFailures } from '../../base/errors/outage.ts';
import { within } from '../../base/runtime/within.ts';
import type { Content, ContentStore } from './content-store.ts';
import type { InvocationDocument } from './invocation.ts';
import type { InvocationStore } from './invocation-store.ts';

/** Stores records in batches, some milliseconds after they are final. */
export interface RecordWriter {
  /**
   * @param isKept whether the record is kept until it is stored. Others are dropped if too many wait
   * @param onGone called when it was stored, or dropped
   * @param content stored before the record
   */
  add(document: InvocationDocument, isKept: boolean, onGone: () => void, content?: string): void;
  /** Resolves when all that were added are stored, or after a second. */
  flush(): Promise<void>;
  /** Stores what is left, within this time. */
  close(limitMs: number): Promise<void>;
}

export interface RecordWriterDependencies {
  readonly store: Pick<InvocationStore, 'insert'>;
  readonly contents: Pick<ContentStore, 'insert'>;
  /** Called with what is not repeated. @param id of the invocation that is not stored, or not with its content */
  readonly onError: (error: unknown, id: string) => void;
}

interface Waiting {
  readonly document: InvocationDocument;
  readonly isKept: boolean;
  readonly onGone: () => void;
  readonly content: Content | undefined;
}

/**
 * How long the first record of a batch waits for others, in milliseconds. What waits when a process is killed is
 * recorded as interrupted, from its journal.
 */
const gatherMs = 50;
const mostTogether = 500;
/** Records that wait while the database is away. */
const mostWaiting = 10_000;
/** Characters of contents that wait. Those beyond are dropped. */
const mostCharacters = 16 * 1024 * 1024;
const pauseMs = 500;
const flushMs = 1_000;

export function createRecordWriter({ store, contents, onError }: RecordWriterDependencies): RecordWriter {
  let waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let isClosed = false;
  let characters = 0;

  const leave = ({ content, onGone }: Waiting): void => {
    if (content !== undefined) characters -= content.json.length;
    onGone();
  };
  const insertContents = async (some: readonly Content[]): Promise<void> => {
    if (some.length === 0) return;
    // The records of those that are refused are stored without them.
    await isolateFailures(some, contents.insert, ({ id }, error) => {
      onError(error, id);
    });
  };
  const writeSome = async (): Promise<void> => {
    const some = waiting.slice(0, mostTogether);
    try {
      await insertContents(some.flatMap(({ content }) => content ?? []));
      await isolateFailures(
        some.map(({ document }) => document),
        store.insert,
        ({ _id: id }, error) => {
          onError(error, id);
        },
      );
    } catch {
      // An outage.
      await sleep(pauseMs, undefined, { ref: false });
      return;
    }
    const gone = new Set(some);
    waiting = waiting.filter((one) => !gone.has(one));
    some.forEach(leave);
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
    add(document, isKept, onGone, json) {
      if (waiting.length >= mostWaiting) {
        const dropped = isKept ? waiting.findIndex((one) => !one.isKept) : -1;
        if (!isKept) {
          onGone();
          return;
        }
        if (dropped >= 0) waiting.splice(dropped, 1).forEach(leave);
      }
      const hasRoom = json !== undefined && characters + json.length <= mostCharacters;
      if (hasRoom) {
        characters += json.length;
        document.content_kept = true;
      }
      waiting.push({ document, isKept, onGone, content: hasRoom ? { id: document._id, json } : undefined });
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
