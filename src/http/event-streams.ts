import type { ServerResponse } from 'node:http';
import type { ProblemError } from '../base/errors/problem-error.ts';
import type { MemoryBudget } from '../base/limits/memory-budget.ts';
import { within } from '../base/runtime/within.ts';
import { eventStreamType, type EventStream, type StreamEnd } from './answer-stream.ts';
import { CallerGoneError } from './caller-gone.ts';
import { toProblem, type ProblemDetails } from './problem-response.ts';
import { heartbeat } from './server-sent-events.ts';

/** Where the events of an answer come from, and how they are written. */
export interface EventSource<Event> {
  /**
   * Begins the work. What it throws before the first event is answered as any failure of a handler; later it becomes
   * the last event of the stream.
   * @param signal aborted when nobody needs the events any more
   */
  open(signal: AbortSignal): AsyncIterable<Event>;
  /** Whether no event follows. A source that ends without such an event has failed. */
  isLast(event: Event): boolean;
  encoder(): EventEncoder<Event>;
  /** It goes on until somebody ends it, so it also ends when the key of its caller is revoked or gets other limits. */
  readonly isEndless?: true;
  /** One event that stands for two neighbours, if there is one: for the copy that is kept for an `Idempotency-Key`. */
  merge?(one: Event, next: Event): Event | undefined;
}

/** Writes events as text, in their order. It can remember what it has written. */
export interface EventEncoder<Event> {
  /** Whole Server-Sent Events; several or none if the format wants this. */
  encode(event: Event): string;
  /** The end of a stream that failed after its status was sent. `details` is what a problem answer contains. */
  fail(problem: ProblemError, details: ProblemDetails): string;
}

export interface StartedStream<Event> {
  /** Undefined if it did not come in time. */
  readonly first: Event | undefined;
  readonly stream: EventStream;
}

export interface StreamTerms {
  /** Of the API key. */
  readonly family: string;
  /** Aborted when the caller has left. */
  readonly signal: AbortSignal;
  /** Whether the work goes on without the caller, because its answer is kept. */
  readonly isKept: boolean;
  /** What the caller reads about a failure. */
  readonly describe: (problem: ProblemError) => ProblemDetails;
}

/** The event streams of this process. */
export interface EventStreams {
  /**
   * Opens a source and waits for its first event, so that failures before it are ordinary problem answers. After ten
   * seconds it stops waiting: then the status is sent, and comments as heartbeat until the first event.
   *
   * @throws {ProblemError} too-much-in-progress, overloaded; what the source throws before its first event
   * @throws The reason of the signal when that is aborted.
   */
  start<Event>(source: EventSource<Event>, terms: StreamTerms): Promise<StartedStream<Event>>;
  /** Ends all streams with this problem, those without a caller too. @param which only those that do not end by themselves */
  end(problem: ProblemError, which?: 'endless'): void;
}

/** Times in milliseconds. */
export interface StreamTimes {
  /** How long the status is held until there is an event. */
  readonly commit: number;
  /** Between two heartbeats, if no event comes. */
  readonly heartbeat: number;
}

export interface EventStreamsOptions {
  readonly memory: MemoryBudget;
  readonly times?: StreamTimes | undefined;
  /** Called with the number of streams in progress when it changes. */
  readonly onChange?: (active: number) => void;
}

/** Load balancers close silent connections after 30 to 60 s. */
const defaultTimes: StreamTimes = { commit: 10_000, heartbeat: 10_000 };

/** A text is written in pieces of so many UTF-16 code units. */
const pieceLength = 8 * 1024;
/** While the connection has so many bytes that the operating system has not taken, the source waits. */
const windowBytes = 8 * 1024;
/** The memory of one stream: what is written, and its objects. */
const streamBytes = 24 * 1024;

export function createEventStreams(options: EventStreamsOptions): EventStreams {
  const { memory, times = defaultTimes, onChange = () => undefined } = options;
  /** Why no endless stream begins any more. */
  let ended: ProblemError | undefined;
  const active = new Set<{ readonly isEndless: boolean; end(error: unknown): void }>();
  return {
    async start(source, terms) {
      terms.signal.throwIfAborted();
      if (source.isEndless === true && ended !== undefined) throw ended;
      const release = memory.reserve(terms.family, streamBytes);
      const stream = new OpenStream(source, terms, times, () => {
        release();
        active.delete(stream);
        onChange(active.size);
      });
      active.add(stream);
      onChange(active.size);
      void stream.run();
      const first = await within(times.commit, stream.first, () => undefined);
      return { first, stream };
    },
    end(problem, which) {
      ended = problem;
      for (const stream of active) if (which === undefined || stream.isEndless) stream.end(problem);
    },
  };
}

/**
 * A failure before the first event is an ordinary problem answer; later it is the last event. A source that ends without
 * its last event has failed, and nothing follows an event that is partly written: then the connection is reset. With an
 * `Idempotency-Key` the work goes on without the caller, and the last event is sent after the answer was stored, so that
 * a repetition finds it.
 */
class OpenStream<Event> implements EventStream {
  readonly mediaType = eventStreamType;
  /** The first event. Rejects if the source fails before. */
  readonly first: Promise<Event>;
  readonly whole: Promise<string> | undefined;
  readonly #source: EventSource<Event>;
  readonly #encoder: EventEncoder<Event>;
  readonly #terms: StreamTerms;
  readonly #times: StreamTimes;
  readonly #started = performance.now();
  readonly #ending = new AbortController();
  readonly #first = Promise.withResolvers<Event>();
  readonly #whole = Promise.withResolvers<string>();
  /** Resolves when the events can be written, or need not be written. */
  readonly #ready = Promise.withResolvers<undefined>();
  /** Resolves when `whole` is stored, or cannot be stored. */
  readonly #stored = Promise.withResolvers<undefined>();
  readonly #onEnd: () => void;
  /** Events for the copy that is kept. */
  readonly #kept: Event[] = [];
  #response: ServerResponse | undefined;
  #beats: NodeJS.Timeout | undefined;
  #bytes = 0;
  /** Part of an event is written, and the rest is not. */
  #isWithinEvent = false;
  #isCut = false;
  #firstMs: number | undefined;
  #isOver = false;
  #isSettled = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(source: EventSource<Event>, terms: StreamTerms, times: StreamTimes, onEnd: () => void) {
    this.#source = source;
    this.#encoder = source.encoder();
    this.#terms = terms;
    this.#times = times;
    this.#onEnd = onEnd;
    this.first = this.#first.promise;
    this.whole = terms.isKept ? this.#whole.promise : undefined;
    // A failure is reported even if nobody waits for these any more.
    this.#first.promise.catch(() => undefined);
    this.#whole.promise.catch(() => undefined);
    terms.signal.addEventListener('abort', this.#leave, { once: true });
  }

  /** Passes on the events. Never rejects. */
  async run(): Promise<void> {
    try {
      for await (const event of this.#source.open(this.#ending.signal)) {
        if (this.#isOver) return;
        if (this.#terms.isKept) this.#keep(event);
        if (this.#firstMs === undefined) {
          this.#firstMs = performance.now() - this.#started;
          this.#first.resolve(event);
          await this.#ready.promise;
        }
        const isLast = this.#source.isLast(event);
        if (isLast && this.#terms.isKept) await this.#store();
        await this.#send(this.#encoder.encode(event));
        if (isLast) {
          this.#finish(undefined);
          return;
        }
      }
      throw new Error('the source of a stream ended without its last event');
    } catch (error) {
      this.#finish({ error });
    }
  }

  get isEndless(): boolean {
    return this.#source.isEndless === true;
  }

  sendTo(response: ServerResponse): Promise<StreamEnd> {
    const { promise, resolve } = Promise.withResolvers<StreamEnd>();
    const close = (): void => {
      this.#response = undefined;
      clearInterval(this.#beats);
      this.discard();
      resolve(this.#endOf(response));
    };
    if (response.destroyed) {
      close();
      return promise;
    }
    response.once('close', close);
    this.#response = response;
    if (this.#firstMs === undefined) this.#write(response, heartbeat);
    this.#beats = setInterval(() => {
      if (response.writableLength === 0 && !this.#isWithinEvent) this.#write(response, heartbeat);
    }, this.#times.heartbeat);
    this.#ready.resolve(undefined);
    if (this.#isOver) this.#close();
    return promise;
  }

  discard(): void {
    this.#ready.resolve(undefined);
    if (!this.#terms.isKept) this.end(new CallerGoneError());
  }

  stored(): void {
    this.#stored.resolve(undefined);
  }

  /** Stops the source, and ends the stream with this failure. */
  end(error: unknown): void {
    if (this.#isOver) return;
    this.#ending.abort(error);
    this.#finish({ error });
  }

  readonly #leave = (): void => {
    this.end(this.#terms.signal.reason);
  };

  #keep(event: Event): void {
    const last = this.#kept.at(-1);
    const merged = last === undefined ? undefined : this.#source.merge?.(last, event);
    if (merged === undefined) this.#kept.push(event);
    else this.#kept[this.#kept.length - 1] = merged;
  }

  /** Waits while the caller reads more slowly than events arrive. */
  async #send(text: string): Promise<void> {
    this.#beats?.refresh();
    for (let start = 0; start < text.length;) {
      const response = this.#response;
      if (response === undefined || this.#isOver) return;
      const end = endOfPiece(text, start);
      const piece = start === 0 && end === text.length ? text : text.slice(start, end);
      this.#isWithinEvent = end < text.length;
      const isOpen = response.socket?.destroyed === false;
      if (isOpen && response.writableLength < windowBytes) {
        this.#write(response, piece);
      } else {
        // A closed connection takes everything, so a source that is always ready would keep the process busy.
        await new Promise<unknown>((resolve) => {
          response.once('close', resolve);
          if (!isOpen) return;
          this.#write(response, piece, () => {
            response.off('close', resolve);
            resolve(undefined);
          });
        });
      }
      start = end;
    }
  }

  #write(response: ServerResponse, text: string, written: (error?: Error | null) => void = () => undefined): void {
    this.#bytes += Buffer.byteLength(text);
    response.write(text, written);
  }

  #finish(failure: { readonly error: unknown } | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failure = failure;
    this.#terms.signal.removeEventListener('abort', this.#leave);
    clearInterval(this.#beats);
    if (failure !== undefined) this.#first.reject(failure.error);
    this.#onEnd();
    if (this.#terms.isKept) {
      void this.#store().then(() => {
        this.#close();
      });
    } else {
      this.#close();
    }
  }

  /** The end is sent after the whole answer is stored, so that a repetition finds it. */
  #store(): Promise<undefined> {
    if (!this.#isSettled) this.#settleWhole();
    this.#isSettled = true;
    return this.#stored.promise;
  }

  #settleWhole(): void {
    const failure = this.#failure;
    if (failure !== undefined && this.#kept.length === 0) {
      this.#whole.reject(failure.error);
      return;
    }
    const encoder = this.#source.encoder();
    try {
      const text = this.#kept.map((event) => encoder.encode(event)).join('');
      this.#whole.resolve(failure === undefined ? text : text + this.#failed(encoder, failure.error));
    } catch (error) {
      this.#whole.reject(error);
    }
  }

  #failed(encoder: EventEncoder<Event>, error: unknown): string {
    const problem = toProblem(error);
    return encoder.fail(problem, this.#terms.describe(problem));
  }

  /** Writes the end, if there is a connection. Callers do not take a stream that is cut for a whole one. */
  #close(): void {
    const response = this.#response;
    if (response === undefined || response.destroyed) return;
    try {
      if (this.#failure !== undefined) {
        if (this.#isWithinEvent) throw this.#failure.error;
        this.#write(response, this.#failed(this.#encoder, this.#failure.error));
      }
      response.end();
    } catch (error) {
      this.#failure = { error };
      this.#isCut = true;
      response.socket?.resetAndDestroy();
    }
  }

  #endOf({ writableFinished }: ServerResponse): StreamEnd {
    const sent = { bytes: this.#bytes, firstMs: this.#firstMs };
    const failure = this.#failure;
    if (failure !== undefined && this.#isCut) return { ...sent, outcome: 'failed', ...failure };
    if (!writableFinished) return { ...sent, outcome: 'closed' };
    return failure === undefined ? { ...sent, outcome: 'succeeded' } : { ...sent, outcome: 'error', ...failure };
  }
}

/** A piece does not end within a character. */
function endOfPiece(text: string, start: number): number {
  const end = start + pieceLength;
  if (end >= text.length) return text.length;
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit < 0xdc00 ? end - 1 : end;
}
