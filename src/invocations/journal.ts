import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { InvocationDocument } from './invocation.ts';
import type { Batch, JournalStore, JournalWrite, PutOutcome } from './journal-store.ts';

export interface JournalTerms {
  /** Milliseconds between two writes, at most, while something is in the journal. */
  readonly beatMs: number;
  /** How long a write waits for others, in milliseconds; read for each. */
  readonly gatherMs: () => number;
}

interface Waiting {
  readonly id: string;
  readonly entry: InvocationDocument;
  readonly settled: PromiseWithResolvers<PutOutcome>;
}

/** Entries in the document. Each write changes the whole document on some servers, so it is kept small. */
const mostEntries = 256;
/** Beats without an entry after which the document is removed. */
const idleBeats = 5;
const pauseMs = 500;

/** A batch in the document, which leaves it when all its entries have ended. */
interface WrittenBatch {
  readonly number: number;
  readonly size: number;
  left: number;
}

/**
 * A document in which this process writes down what it is about to do. One write is in progress at a time, and is shared
 * by all who wait, whose entries are a batch. Each write increments `seq`, which is also its condition: a process that was taken for dead, and
 * whose journal was closed, cannot add anything to it.
 */
export class Journal {
  readonly id: string;
  readonly #store: JournalStore;
  readonly #terms: JournalTerms;
  readonly #beats: NodeJS.Timeout;
  /** That of the last write; undefined before the first. */
  #seq: number | undefined;
  /** The batch of each entry that has not ended; undefined before it is written. */
  readonly #open = new Map<string, WrittenBatch | undefined>();
  #waiting: Waiting[] = [];
  #batches = 0;
  /** Of the entries in the document. */
  #size = 0;
  /** The batches that the next write removes. */
  #ended: WrittenBatch[] = [];
  #writing: Promise<void> | undefined;
  #hasWritten = false;
  #idle = 0;
  #isOver = false;
  #isStopping = false;

  constructor(id: string, store: JournalStore, terms: JournalTerms) {
    this.id = id;
    this.#store = store;
    this.#terms = terms;
    this.#beats = setInterval(() => {
      this.#beat();
    }, terms.beatMs).unref();
  }

  /** False after it was closed or removed. */
  get isOpen(): boolean {
    return !this.#isOver;
  }

  get hasRoom(): boolean {
    return !this.#isOver && this.#size + this.#waiting.length < mostEntries;
  }

  /**
   * Adds an entry, or replaces it.
   * @throws {ProblemError} database-unavailable, storage-full: it may be in the journal, until `end`
   */
  put(id: string, entry: InvocationDocument): Promise<PutOutcome> {
    if (this.#isOver) return Promise.resolve('lost');
    if (!this.#open.has(id)) this.#open.set(id, undefined);
    const settled = Promise.withResolvers<PutOutcome>();
    this.#waiting.push({ id, entry, settled });
    this.#writing ??= this.#write();
    return settled.promise;
  }

  /** The entry is not needed any more. */
  end(id: string): void {
    this.#leave(this.#open.get(id));
    this.#open.delete(id);
  }

  /** Writes what is left, and removes the document if nothing is in it. */
  async close(): Promise<void> {
    this.#isStopping = true;
    await this.#writing;
    if (!this.#isOver && this.#seq !== undefined && this.#ended.length > 0) await this.#write();
    if (this.#open.size === 0) await this.#remove();
    clearInterval(this.#beats);
  }

  #beat(): void {
    const isQuiet = !this.#hasWritten;
    this.#hasWritten = false;
    if (this.#writing !== undefined || this.#isOver) return;
    this.#idle = this.#open.size === 0 && this.#ended.length === 0 ? this.#idle + 1 : 0;
    if (this.#idle >= idleBeats) void this.#remove();
    else if (this.#idle === 0 && isQuiet && this.#seq !== undefined) this.#writing = this.#write();
  }

  async #write(): Promise<void> {
    const gatherMs = this.#terms.gatherMs();
    // After the current turn of the event loop, so that what is added together is written together.
    await (gatherMs > 0 ? sleep(gatherMs) : nextTurn());
    do {
      const waiting = this.#waiting;
      this.#waiting = [];
      const batch = this.#batchOf(waiting);
      const ended = this.#ended.splice(0);
      const outcome = await this.#untilKnown({ batch, ended: ended.map(({ number }) => number) }, waiting);
      this.#hasWritten = true;
      for (const { size } of ended) this.#size -= size;
      if (outcome !== 'written') this.#finish();
      for (const { settled } of waiting) settled.resolve(outcome);
    } while (this.#waiting.length > 0 && !this.#isOver);
    for (const { settled } of this.#waiting.splice(0)) settled.resolve('lost');
    this.#writing = undefined;
  }

  /** What has ended in the meantime is not added any more. */
  #batchOf(waiting: readonly Waiting[]): Batch {
    const added = waiting.filter(({ id }) => this.#open.has(id));
    const batch = { number: this.#batches++, size: added.length, left: added.length };
    this.#size += batch.size;
    for (const { id } of added) {
      this.#leave(this.#open.get(id));
      this.#open.set(id, batch);
    }
    return { number: batch.number, entries: added.map(({ entry }) => entry) };
  }

  #leave(batch: WrittenBatch | undefined): void {
    if (batch !== undefined && --batch.left === 0) this.#ended.push(batch);
  }

  /** Repeats a write until its outcome is known. Those who wait for it, and for the next one, fail at once. */
  async #untilKnown(write: JournalWrite, waiting: readonly Waiting[]): Promise<PutOutcome> {
    for (let isRepeated = false; ; isRepeated = true) {
      try {
        const outcome =
          this.#seq === undefined
            ? await this.#store.create(this.id, write.batch)
            : await this.#store.write(this.id, this.#seq, write, isRepeated);
        this.#seq = (this.#seq ?? -1) + 1;
        return outcome;
      } catch (error) {
        for (const { settled } of [...waiting, ...this.#waiting.splice(0)]) settled.reject(error);
        if (this.#isStopping) return 'uncertain';
        await sleep(pauseMs, undefined, { ref: false });
      }
    }
  }

  async #remove(): Promise<void> {
    const seq = this.#seq;
    this.#finish();
    // Another process removes what is left.
    if (seq !== undefined) await this.#store.remove(this.id, seq).catch(() => undefined);
  }

  #finish(): void {
    this.#isOver = true;
    clearInterval(this.#beats);
  }
}
