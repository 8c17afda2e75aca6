import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Allowance } from '../budgets/allowance.ts';
import type { Claim } from '../budgets/shares.ts';
import { isOutage } from '../../base/errors/outage.ts';
import { inBudget } from '../../base/runtime/money.ts';
import type { CallAttemptDocument, InvocationDocument } from './invocation.ts';
import type { JournalStore, JournalWrite, PutOutcome } from './journal-store.ts';

export interface JournalTerms {
  /** Milliseconds between two writes, at most, while something is in the journal. */
  readonly beatMs: number;
  /** Milliseconds between two reports of what was spent of budgets. */
  readonly reportMs: number;
  /** How long a write waits for others, in milliseconds; read for each. */
  readonly gatherMs: () => number;
  /** Called with what is not repeated. @param ids of the journal and of the invocations whose entries are refused */
  readonly onError?: (
    error: unknown,
    ids: { readonly journal: string; readonly invocations: readonly string[] },
  ) => void;
}

interface Waiting {
  readonly id: string;
  /** Undefined if only the document is to be written. */
  readonly entry: InvocationDocument | undefined;
  readonly settled: PromiseWithResolvers<PutOutcome>;
}

/** What an attempt has reserved, until the record of its invocation is stored. */
interface Reserved {
  readonly claim: Claim;
  /** What is still reserved of the claim. */
  amount: number;
  readonly attempt: Pick<CallAttemptDocument, 'status' | 'cost'>;
}

/** The costs of an entry are settled when no batch contains it any more: then nobody counts them from its text. */
interface Payment {
  readonly batches: Set<WrittenBatch>;
  readonly reserved: Reserved[];
  /** Undefined until its record is stored. */
  costs: ReadonlyMap<string, number> | undefined;
}

/** Entries in the document. Each write changes the whole document on some servers, so it is kept small. */
const mostEntries = 256;
/** Beats without an entry after which the document is removed. */
const idleBeats = 5;
const pauseMs = 500;
/** What a journal counts for budgets stays in it while it lasts. */
const mostPeriods = 200;
const longestMs = 3_600_000;

/** A batch in the document, which leaves it when all its entries have ended. */
interface WrittenBatch {
  readonly number: number;
  readonly size: number;
  left: number;
  /** Of the entries under budgets. */
  payments?: Payment[];
}

/**
 * A document in which this process writes down what it is about to do. One write is in progress at a time, and is shared
 * by all who wait, whose entries are a batch. Each write increments `seq`, which is also its condition: a process that was
 * taken for dead, and whose journal was closed, cannot add anything to it.
 */
export class Journal {
  readonly id: string;
  readonly #store: JournalStore;
  readonly #terms: JournalTerms;
  readonly #beats: NodeJS.Timeout;
  /** That of the last write; undefined before the first. */
  #seq: number | undefined;
  /** The batches of each entry that has not ended. Earlier ones stay until the last one is written. */
  readonly #open = new Map<string, WrittenBatch[]>();
  #waiting: Waiting[] = [];
  /** One of these was refused together with the others, so each is written alone. */
  #suspects: Waiting[] = [];
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
  readonly #allowance: Allowance;
  readonly #payments = new Map<string, Payment>();
  readonly #began = performance.now();

  constructor(id: string, store: JournalStore, terms: JournalTerms, allowance: Allowance) {
    this.id = id;
    this.#store = store;
    this.#terms = terms;
    this.#allowance = allowance;
    this.#beats = setInterval(() => {
      this.#beat();
    }, terms.beatMs).unref();
  }

  /** False after it was closed or removed. */
  get isOpen(): boolean {
    return !this.#isOver;
  }

  get hasRoom(): boolean {
    if (this.#isOver || this.#allowance.isOver || this.#isFull) return false;
    const { size } = this.#allowance;
    return size === 0 || (size < mostPeriods && performance.now() - this.#began < longestMs);
  }

  get #isFull(): boolean {
    return this.#size + this.#waiting.length + this.#suspects.length >= mostEntries;
  }

  /**
   * Reserves what an attempt may cost, before it is put into the journal. `end` releases it.
   * @returns what ends the reservation if it is not put; undefined if the journal is closed
   * @throws {ProblemError} budget-exceeded; database-unavailable
   */
  async reserve(id: string, claim: Claim, attempt: Reserved['attempt']): Promise<(() => void) | undefined> {
    if (this.#isOver) return undefined;
    // Before it exists, its slices would seem to be those of a journal that is gone.
    if (this.#seq === undefined && (await this.#create()) !== 'written') return undefined;
    if (!(await this.#allowance.reserve(claim))) return undefined;
    let payment = this.#payments.get(id);
    if (payment === undefined) {
      payment = { batches: new Set(), reserved: [], costs: undefined };
      this.#payments.set(id, payment);
    }
    const { reserved: all } = payment;
    const reserved = { claim, amount: claim.amount, attempt };
    all.push(reserved);
    return () => {
      all.splice(all.indexOf(reserved), 1);
      this.#release(reserved);
      if (all.length === 0) this.#payments.delete(id);
    };
  }

  /**
   * The entry that is put next has the final costs of the attempts that have ended, so that they need no more.
   * @returns what is to be called when it is written
   */
  confirming(id: string): (() => void) | undefined {
    const payment = this.#payments.get(id);
    if (payment === undefined || payment.reserved.length < 2) return undefined;
    const ended = payment.reserved.filter(({ attempt: { status } }) => status !== 'interrupted');
    const costs = ended.map(({ attempt: { cost }, amount }) => inBudget(cost ?? amount));
    return () => {
      if (this.#payments.get(id) !== payment) return;
      for (const [index, reserved] of ended.entries()) {
        const { claim, amount } = reserved;
        reserved.amount = costs[index] ?? amount;
        this.#release({ claim, amount: amount - reserved.amount });
      }
    };
  }

  /** Reports what was spent. */
  async tick(): Promise<void> {
    if (!this.#isOver && this.#allowance.size > 0) await this.#allowance.tick();
  }

  /**
   * Adds an entry, or replaces it.
   * @throws {ProblemError} database-unavailable, storage-full: it may be in the journal, until `end`
   * @throws What the store throws else, if it does so for this entry alone. One that it would replace stays.
   */
  put(id: string, entry: InvocationDocument): Promise<PutOutcome> {
    if (this.#isOver) return Promise.resolve('lost');
    if (!this.#open.has(id)) this.#open.set(id, []);
    const settled = Promise.withResolvers<PutOutcome>();
    this.#waiting.push({ id, entry, settled });
    this.#writing ??= this.#write();
    return settled.promise;
  }

  /**
   * The entry is not needed any more, because its record is stored.
   * @param costs of its attempts, by the period of the budget
   */
  end(id: string, costs: ReadonlyMap<string, number>): void {
    const payment = this.#payments.get(id);
    if (payment !== undefined) {
      this.#payments.delete(id);
      for (const reserved of payment.reserved) this.#release(reserved);
      if (payment.batches.size > 0) {
        payment.costs = new Map([...costs].map(([period, cost]) => [period, this.#allowance.count(period, cost)]));
      }
    }
    for (const batch of this.#open.get(id) ?? []) this.#leave(batch);
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
    const isIdle = this.#open.size === 0 && this.#ended.length === 0 && this.#payments.size === 0;
    this.#idle = isIdle && this.#allowance.isIdle ? this.#idle + 1 : 0;
    if (this.#idle >= idleBeats) void this.#remove();
    else if (this.#idle === 0 && isQuiet && this.#seq !== undefined) this.#writing = this.#write();
  }

  #release({ claim, amount }: Pick<Reserved, 'claim' | 'amount'>): void {
    this.#allowance.release(claim, amount);
  }

  /** Writes an empty journal, unless it is written. @throws {ProblemError} database-unavailable */
  #create(): Promise<PutOutcome> {
    const settled = Promise.withResolvers<PutOutcome>();
    this.#waiting.push({ id: '', entry: undefined, settled });
    this.#writing ??= this.#write();
    return settled.promise;
  }

  async #write(): Promise<void> {
    const gatherMs = this.#terms.gatherMs();
    // After the current turn of the event loop, so that what is added together is written together.
    await (gatherMs > 0 ? sleep(gatherMs) : nextTurn());
    do {
      const waiting = this.#suspects.length > 0 ? this.#suspects.splice(0, 1) : this.#waiting.splice(0);
      const [batch, entries] = this.#batchOf(waiting);
      const ended = this.#ended.splice(0);
      const costs = costsOf(ended);
      const write = { batch: { number: batch.number, entries }, ended: ended.map(({ number }) => number), costs };
      const outcome = await this.#untilKnown(write, waiting);
      this.#hasWritten = true;
      for (const { size } of ended) this.#size -= size;
      if (outcome === 'written') {
        this.#allowance.settled(costs);
        for (const { id } of waiting) this.#replaceBy(batch, id);
      } else this.#finish();
      for (const { settled } of waiting) settled.resolve(outcome);
    } while (this.#suspects.length + this.#waiting.length > 0 && !this.#isOver);
    for (const { settled } of this.#takeAll()) settled.resolve('lost');
    this.#writing = undefined;
  }

  /** What has ended in the meantime is not added any more. */
  #batchOf(waiting: readonly Waiting[]): [WrittenBatch, InvocationDocument[]] {
    const added = waiting.filter(({ id }) => this.#open.has(id));
    const batch: WrittenBatch = { number: this.#batches++, size: added.length, left: added.length };
    this.#size += batch.size;
    for (const { id } of added) {
      this.#open.get(id)?.push(batch);
      const payment = this.#payments.get(id);
      if (payment === undefined || payment.batches.has(batch)) continue;
      payment.batches.add(batch);
      (batch.payments ??= []).push(payment);
    }
    return [batch, added.flatMap(({ entry }) => entry ?? [])];
  }

  /** The entry is written in this batch, so it leaves the earlier ones. */
  #replaceBy(batch: WrittenBatch, id: string): void {
    const batches = this.#open.get(id) ?? [];
    for (const earlier of batches.splice(0, batches.indexOf(batch))) this.#leave(earlier);
  }

  #leave(batch: WrittenBatch): void {
    if (--batch.left === 0) this.#ended.push(batch);
  }

  #takeAll(): Waiting[] {
    return [...this.#suspects.splice(0), ...this.#waiting.splice(0)];
  }

  /**
   * Repeats a write during an outage, until its outcome is known. Those who wait for it, and for the next one, fail at
   * once. Entries that are refused are left out of it.
   * @param waiting Those remain in it that wait for the outcome.
   */
  async #untilKnown(whole: JournalWrite, waiting: Waiting[]): Promise<PutOutcome> {
    let write = whole;
    for (let isRepeated = false; ; isRepeated = true) {
      try {
        const outcome =
          this.#seq === undefined
            ? await this.#store.create(this.id, write.batch)
            : await this.#store.write(this.id, this.#seq, write, isRepeated);
        this.#seq = (this.#seq ?? -1) + 1;
        return outcome;
      } catch (error) {
        if (isOutage(error)) {
          for (const { settled } of [...waiting, ...this.#takeAll()]) settled.reject(error);
          if (this.#isStopping) return 'uncertain';
          await sleep(pauseMs, undefined, { ref: false });
          continue;
        }
        const refused = waiting.splice(0);
        if (write.batch.entries.length > 0 && refused.length > 1) {
          this.#suspects.unshift(...refused);
        } else {
          const invocations = write.batch.entries.map(({ _id }) => _id);
          this.#terms.onError?.(error, { journal: this.id, invocations });
          for (const { settled } of refused) settled.reject(error);
          // It is not because of an entry. Another process reads what is left in it.
          if (invocations.length === 0) return 'uncertain';
        }
        write = { ...whole, batch: { ...whole.batch, entries: [] } };
      }
    }
  }

  async #remove(): Promise<void> {
    const seq = this.#seq;
    this.#isOver = true;
    clearInterval(this.#beats);
    // Another process returns and removes what is left.
    if (!(await this.#allowance.close())) return;
    if (seq !== undefined) await this.#store.remove(this.id, seq).catch(() => undefined);
  }

  #finish(): void {
    this.#isOver = true;
    this.#allowance.end();
    clearInterval(this.#beats);
  }
}

/** The costs of entries that no batch contains any more. */
function costsOf(ended: readonly WrittenBatch[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const batch of ended) {
    for (const { batches, costs } of batch.payments ?? []) {
      batches.delete(batch);
      if (costs === undefined || batches.size > 0) continue;
      for (const [period, cost] of costs) sums.set(period, (sums.get(period) ?? 0) + cost);
    }
  }
  return sums;
}
