import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { MemoryBudget } from '../../base/limits/memory-budget.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { KeptBytes } from '../../base/limits/kept-bytes.ts';
import { digestOf } from '../../base/runtime/json-size.ts';
import { within } from '../../base/runtime/within.ts';
import { createGivenUp } from './given-up.ts';
import { createHeldLeases, createLeaseWatch } from './record-lease.ts';
import { createPendingWork } from './pending-work.ts';
import type { IdempotencyRecord, IdempotencyStore } from './idempotency-store.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';

/** A finished answer that is stored for replay. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** An answer that is sent while the work goes on. */
export interface BegunAnswer<Begun> {
  readonly begun: Begun;
  /** The answer to store. Rejects if there is none; then the key is freed as after any failure. */
  readonly whole: Promise<KeptAnswer>;
  /** Called when the answer is stored, or the key is freed, or the database takes too long for this. */
  readonly onStored: () => void;
}

export interface IdempotentRequest {
  /** The API key, operation and path that an idempotency key belongs to. */
  readonly scope: string;
  readonly key: string;
  /** Of the caller's API key: the stored answer counts for it. */
  readonly family: string;
  readonly body: unknown;
  /** Time without a beat after which another process can continue the work, in milliseconds. */
  readonly termMs: number;
}

/** Runs work at most once for each idempotency key. */
export interface Idempotency {
  /**
   * Replays the stored answer of an earlier request, or does the work and stores its answer if it is a 2xx. Any other
   * outcome frees the key. `work` gets the id that the first attempt reserved and must recognise a resource that exists
   * under it.
   *
   * Work that answers while it goes on holds the key until its answer is whole.
   *
   * If another process has the key, this one watches the record for some seconds. If the other process has died, this
   * one takes over at the end of the record's term.
   * @throws {ProblemError} idempotency-key-reused for another body, idempotency-key-in-use while the first request runs
   */
  run<Begun = never>(
    request: IdempotentRequest,
    work: (resourceId: string) => Promise<KeptAnswer | BegunAnswer<Begun>>,
  ): Promise<{ answer: KeptAnswer | Begun; replayed: boolean }>;
  /** Waits, at most so many milliseconds, for work whose caller may have left and for records still to be written. */
  drain(timeoutMs: number): Promise<void>;
}

/** Answers are kept for at least a day. The additional hour allows for differences between clocks. */
const keepMs = 25 * 3_600_000;
/** Milliseconds that a request watches another one with its key, in another process. */
const patienceMs = 6_000;
/** Milliseconds before the second read of the record of another process; the pause doubles each time. */
const firstPauseMs = 50;
/** Bodies from this size on are compressed. */
const compressedFrom = 16 * 1024;
/**
 * Bytes of the largest body that is stored, below MongoDB's 16 MiB for a document. Only answers of test runs can be
 * larger; they are created again from the results that are stored under the reserved id. Answers of invocations always
 * fit, because the answers of providers are limited (providers/transport/http.ts).
 */
export const largestKeptBody = 8 * 1024 * 1024;
/** How long an answer waits for its record to be written, in milliseconds. */
const recordWaitMs = 1_000;

/** Bytes of a record without the answer's body. */
const recordBytes = 600;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

type Work<Begun> = (resourceId: string) => Promise<KeptAnswer | BegunAnswer<Begun>>;

/** A hash of a body. The order of an object's members does not matter. */
export function fingerprintOf(body: unknown): string {
  return digestOf(body, 'hex');
}

/** The problem of a key that is used again with another body. */
export function idempotencyKeyReused(): ProblemError {
  return new ProblemError('idempotency-key-reused', {
    detail: 'This Idempotency-Key was used with another body.',
    errors: [{ detail: 'was used with another body', header: 'Idempotency-Key' }],
  });
}

export interface IdempotencyOptions {
  readonly store: IdempotencyStore;
  /** Counts the bytes of stored answers. */
  readonly keptBytes: KeptBytes;
  /** Memory for stored answers that are read. */
  readonly memory: MemoryBudget;
  /** Called when a record could not be written. Then a repeated request finds nothing. */
  readonly onError?: (error: unknown, recordId?: string) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly pause?: (milliseconds: number) => Promise<unknown>;
}

export function createIdempotency({
  store,
  keptBytes,
  memory,
  onError = () => undefined,
  clock,
  random,
  pause = sleep,
}: IdempotencyOptions): Idempotency {
  const pending = createPendingWork();
  const watch = createLeaseWatch(clock.monotonic);
  const held = createHeldLeases((records) => store.beat(records), clock.monotonic);
  const givenUp = createGivenUp(store, onError);

  /**
   * The answer does not wait for a database that is unavailable. The record is written when it is available again; if
   * this fails, the record's term ends.
   */
  const record = async (write: Promise<unknown>): Promise<void> => {
    await within(recordWaitMs, pending.track(write.catch(onError)), () => undefined);
  };

  /** @returns this request's record if the work must be done, else another one that has an answer or another body */
  const claim = async (fresh: IdempotencyRecord): Promise<IdempotencyRecord> => {
    const patientUntil = clock.monotonic() + patienceMs;
    let readAt = clock.monotonic();
    let found = await store.insert(fresh);
    for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
      if (found.owner === fresh.owner || found.fingerprint !== fresh.fingerprint || found.answer !== undefined) {
        return found;
      }
      if (held.holds(found)) throw inUse(1_000);
      const { leftMs, isAlive } = watch.observe(found, readAt);
      if (isAlive) throw inUse(2_000);
      if (leftMs === 0) {
        const taken = { ...fresh, resourceId: found.resourceId };
        if (await store.takeOver(taken, found)) return taken;
      } else {
        const patience = patientUntil - clock.monotonic();
        if (patience <= 0) throw inUse(leftMs);
        await pause(Math.min(pauseMs, leftMs, patience));
      }
      readAt = clock.monotonic();
      found = (await store.find(fresh.id)) ?? (await store.insert(fresh));
    }
  };

  const perform = async <Begun>(
    claimed: IdempotencyRecord,
    { family, isTakenOver }: { family: string; isTakenOver: boolean },
    work: Work<Begun>,
  ): Promise<KeptAnswer | Begun> => {
    const fail = async (error: unknown): Promise<void> => {
      held.drop(claimed);
      // A refusal frees the key. After an outage or a fault it is not known what was written, so the next attempt must
      // continue under the same reserved id. The same applies if an earlier attempt is still in progress, and if a
      // limit refused this attempt before it looked for what an earlier one wrote.
      const undecided = isTakenOver ? [429, 500, 503] : [500, 503];
      const isRefused =
        error instanceof ProblemError && !undecided.includes(error.status) && error.type !== 'idempotency-key-in-use';
      await record(isRefused ? store.release(claimed) : givenUp.add(claimed));
    };
    const finish = (answer: KeptAnswer): Promise<void> =>
      record(
        keep(store, claimed, answer)
          .then((bytes) => {
            keptBytes.add(family, bytes);
          })
          .finally(() => {
            held.drop(claimed);
          }),
      );
    held.hold(claimed);
    let done: KeptAnswer | BegunAnswer<Begun>;
    try {
      keptBytes.check(family);
      done = await work(claimed.resourceId);
    } catch (error) {
      await fail(error);
      throw error;
    }
    if ('begun' in done) {
      void pending.track(done.whole.then(finish, fail).finally(done.onStored));
      return done.begun;
    }
    await finish(done);
    return done;
  };

  const run = async <Begun>(
    { scope, family, key, body, termMs }: IdempotentRequest,
    work: Work<Begun>,
  ): Promise<{ answer: KeptAnswer | Begun; replayed: boolean }> => {
    const fresh: IdempotencyRecord = {
      id: hash('sha256', `${scope}\n${key}`),
      fingerprint: fingerprintOf(body),
      owner: random.uuid(),
      resourceId: random.uuid(),
      beat: 0,
      termMs,
      isGivenUp: false,
      expiresAt: clock.now().getTime() + keepMs,
      answer: undefined,
    };
    let claimed: IdempotencyRecord;
    try {
      claimed = await claim(fresh);
    } catch (error) {
      // The insert may have succeeded although its answer was lost, or it may still succeed later.
      if (!(error instanceof ProblemError) || error.status === 503) await record(givenUp.add(fresh));
      throw error;
    }
    if (claimed.owner === fresh.owner) {
      const isTakenOver = claimed.resourceId !== fresh.resourceId;
      return { answer: await perform(claimed, { family, isTakenOver }, work), replayed: false };
    }
    if (claimed.fingerprint !== fresh.fingerprint) throw idempotencyKeyReused();
    const release = memory.reserve(family, (claimed.answer?.bytes ?? 0) * 2);
    return { answer: await replay(store, claimed, work).finally(release), replayed: true };
  };

  return {
    run: (request, work) => pending.track(run(request, work)),
    async drain(timeoutMs) {
      await pending.drain(timeoutMs);
      givenUp.stop();
    },
  };
}

function inUse(leftMs: number): ProblemError {
  return new ProblemError('idempotency-key-in-use', {
    detail: 'The first request with this Idempotency-Key is still running.',
    headers: { 'retry-after': String(Math.max(1, Math.ceil(leftMs / 1000))) },
  });
}

/** @returns the bytes of the record */
async function keep(store: IdempotencyStore, record: IdempotencyRecord, answer: KeptAnswer): Promise<number> {
  const { status, headers, body } = answer;
  const bytes = Buffer.byteLength(body);
  const head = { status, headers, bytes };
  const stored = bytes > largestKeptBody ? null : bytes < compressedFrom ? body : await compress(body);
  await store.finish(record, head, stored);
  return recordBytes + (stored?.length ?? 0);
}

async function replay<Begun>(
  store: IdempotencyStore,
  { id, resourceId, answer }: IdempotencyRecord,
  work: Work<Begun>,
): Promise<KeptAnswer | Begun> {
  const body = await store.body(id);
  if (answer === undefined || body === null || body === undefined) {
    const done = await work(resourceId);
    return 'begun' in done ? done.begun : done;
  }
  const { status, headers } = answer;
  return { status, headers, body: typeof body === 'string' ? body : String(await decompress(body)) };
}
