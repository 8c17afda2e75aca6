/**
 * The right to migrate, which one process has at a time. Every write increments the revision of the schema document, so
 * a revision that does not change for the term shows that the holder has ended.
 */
import { randomUUID } from 'node:crypto';
import { retryLostRaces } from '../../base/editing/lost-races.ts';
import { createStalenessWatch, type StalenessWatch } from '../../base/runtime/staleness-watch.ts';
import { patiently } from './patience.ts';
import type { Schema, SchemaDocument } from './schema.ts';
import type { Change } from './writes.ts';

/** The lease was lost, or the process stops. */
export class InterruptedError extends Error {}

/** Milliseconds. */
export interface LeaseTimes {
  /** Between two signs of life of the process that migrates. */
  readonly beatMs: number;
  /** Without a sign of life, after which another process takes over. */
  readonly termMs: number;
}

export interface LeaseOptions {
  readonly schema: Schema;
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
  readonly times: LeaseTimes;
  readonly monotonic: () => number;
}

/** Takes the lease when it is free. */
export class LeaseTaker {
  readonly #options: LeaseOptions;
  readonly #watch: StalenessWatch;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#watch = createStalenessWatch(options.monotonic);
  }

  /** Reads the schema document. @returns it, and a function that takes the lease, unless another process has it */
  async read(): Promise<{ readonly document: SchemaDocument; take(): Promise<Lease | undefined> }> {
    const { schema, monotonic } = this.#options;
    const readAt = monotonic();
    try {
      const document = await schema.read();
      return { document, take: () => this.#take(document, readAt) };
    } catch (error) {
      // The holder of the lease cannot write either while the database does not answer.
      this.#watch.forget('lease');
      throw error;
    }
  }

  async #take(seen: SchemaDocument, readAt: number): Promise<Lease | undefined> {
    const { schema, times } = this.#options;
    const isFree =
      seen.holder === undefined || this.#watch.observe('lease', `${seen.revision}`, readAt).unchangedMs >= times.termMs;
    if (!isFree) return undefined;
    const holder = randomUUID();
    const taken = await schema.change(seen, { $set: { holder } });
    return taken?.holder === holder ? new Lease(taken, holder, this.#options) : undefined;
  }
}

/** The lease of this process. It shows that it lives until the release. */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #holder: string;
  readonly #beat: NodeJS.Timeout;
  #current: SchemaDocument;
  #writing: Promise<unknown> = Promise.resolve();
  #isBeating = false;

  constructor(taken: SchemaDocument, holder: string, options: LeaseOptions) {
    this.#options = options;
    this.#holder = holder;
    this.#current = taken;
    this.#beat = setInterval(() => {
      if (this.#isBeating || options.signal.aborted) return;
      this.#isBeating = true;
      void this.#enqueue({})
        .catch(() => undefined)
        .finally(() => (this.#isBeating = false));
    }, options.times.beatMs).unref();
  }

  /** Changes the schema document. @throws InterruptedError when another process has the lease */
  async change(change: Change<SchemaDocument>): Promise<void> {
    await patiently(() => this.#enqueue(change), {
      limitMs: Infinity,
      isOver: () => this.#options.signal.aborted,
      onWait: () => undefined,
    });
  }

  async release(): Promise<void> {
    clearInterval(this.#beat);
    await this.#enqueue({ $unset: { holder: '' } });
  }

  /** One write after the other, because each needs the revision of the one before. */
  #enqueue(change: Change<SchemaDocument>): Promise<void> {
    const written = this.#writing.then(() => this.#write(change));
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #write(change: Change<SchemaDocument>): Promise<void> {
    const { schema } = this.#options;
    await retryLostRaces(async () => {
      // The revision of a document that another process holds must not be used: that process would lose its lease.
      if (this.#current.holder !== this.#holder) throw new InterruptedError('another process migrates');
      const after = await schema.change(this.#current, change);
      this.#current = after ?? (await schema.read());
      return after;
    });
  }
}
