import { createHash, randomUUID } from 'node:crypto';
import { configure } from 'safe-stable-stringify';
import { ProblemError } from '../errors/problem-error.ts';
import { createPendingWork, waitAtMost } from './pending-work.ts';
import type { IdempotencyRecord, IdempotencyStore } from './store.ts';

/** A finished answer as it is kept for replay. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface IdempotentRequest {
  /** Key, operation and path: what an idempotency key belongs to. */
  readonly scope: string;
  readonly key: string;
  readonly body: unknown;
  /** The id to reserve where it follows from the key; a fresh UUID when left out. */
  readonly resourceId?: string | undefined;
  /** How long the work may take before another try may take it over, in milliseconds. */
  readonly leaseMs: number;
}

/** Runs work at most once for each idempotency key. */
export interface Idempotency {
  /**
   * Replays the kept answer of an earlier request, or does the work and keeps its answer when it is a 2xx; any other
   * outcome frees the key. `work` gets the id that the first try reserved and must recognise what it made under it.
   * @throws {ProblemError} idempotency-key-reused for another body, idempotency-key-in-use while the first still runs
   */
  run(
    request: IdempotentRequest,
    work: (resourceId: string) => Promise<KeptAnswer>,
  ): Promise<{ answer: KeptAnswer; replayed: boolean }>;
  /** Waits, at most so many milliseconds, for work whose caller may have left and for records still to be written. */
  drain(timeoutMs: number): Promise<void>;
}

/** Answers are kept at least this long. */
const keepMs = 24 * 3_600_000;
/**
 * Bytes of the largest body that is kept, below MongoDB's 16 MiB for a document. Only test runs can answer more, and
 * they make their answer again from what they stored under the reserved id; an invocation's has to fit, because making
 * it again would be paid for again, and does: what a provider may answer is limited (providers/http.ts).
 */
export const largestKeptBody = 8 * 1024 * 1024;
/** How long an answer waits for what is to be noted about it, in milliseconds. */
const recordWaitMs = 1_000;

const canonical = configure({ bigint: false, circularValue: Error });

/** A hash that is the same for bodies that mean the same: the order of an object's members does not count. */
export function fingerprintOf(body: unknown): string {
  return createHash('sha256')
    .update(canonical(body) ?? '')
    .digest('hex');
}

/** The problem of a key that comes again with another body. */
export function idempotencyKeyReused(): ProblemError {
  return new ProblemError('idempotency-key-reused', {
    detail: 'This Idempotency-Key was used with another body.',
    errors: [{ detail: 'was used with another body', header: 'Idempotency-Key' }],
  });
}

export function createIdempotency(store: IdempotencyStore, now: () => number = Date.now): Idempotency {
  const claim = async (
    id: string,
    fingerprint: string,
    leaseMs: number,
    resourceId: string = randomUUID(),
  ): Promise<{ record: IdempotencyRecord; mine: boolean }> => {
    const fresh: IdempotencyRecord = {
      id,
      fingerprint,
      owner: randomUUID(),
      resourceId,
      leaseUntil: now() + leaseMs,
      expiresAt: now() + keepMs + leaseMs,
      answer: undefined,
    };
    const found = await store.insert(fresh);
    if (found.owner === fresh.owner) return { record: fresh, mine: true };
    if (found.fingerprint !== fingerprint || found.answer !== undefined || found.leaseUntil > now()) {
      return { record: found, mine: false };
    }
    const taken = { ...fresh, resourceId: found.resourceId };
    return (await store.takeOver(taken, found.owner)) ? { record: taken, mine: true } : { record: found, mine: false };
  };

  const pending = createPendingWork();
  /**
   * The caller's answer does not wait for a database that has just gone away; the record is written when it is back.
   * Should even that fail, the lease ends by itself.
   */
  const record = async (write: Promise<void>): Promise<void> => {
    await waitAtMost(recordWaitMs, pending.track(write.catch(() => undefined)));
  };

  const perform = async (
    claimed: IdempotencyRecord,
    work: (resourceId: string) => Promise<KeptAnswer>,
  ): Promise<KeptAnswer> => {
    let answer: KeptAnswer;
    try {
      answer = await work(claimed.resourceId);
    } catch (error) {
      // A refusal frees the key. After an outage or a fault nobody knows what was written, so the next try has to go
      // on under the same reserved id; so it has to when the work of an earlier try turns out to be still under way.
      const refused =
        error instanceof ProblemError && ![500, 503].includes(error.status) && error.type !== 'idempotency-key-in-use';
      await record(refused ? store.release(claimed) : store.yieldLease(claimed));
      throw error;
    }
    const kept = Buffer.byteLength(answer.body) > largestKeptBody ? { ...answer, body: null } : answer;
    await record(store.finish(claimed, kept));
    return answer;
  };

  const run: Idempotency['run'] = async ({ scope, key, body, resourceId, leaseMs }, work) => {
    const id = createHash('sha256').update(`${scope}\n${key}`).digest('hex');
    const fingerprint = fingerprintOf(body);
    const { record: claimed, mine } = await claim(id, fingerprint, leaseMs, resourceId);
    if (!mine) return { answer: await replay(claimed, fingerprint, now, work), replayed: true };
    return { answer: await perform(claimed, work), replayed: false };
  };

  return {
    run: (request, work) => pending.track(run(request, work)),
    drain: (timeoutMs) => pending.drain(timeoutMs),
  };
}

async function replay(
  record: IdempotencyRecord,
  fingerprint: string,
  now: () => number,
  work: (resourceId: string) => Promise<KeptAnswer>,
): Promise<KeptAnswer> {
  if (record.fingerprint !== fingerprint) throw idempotencyKeyReused();
  if (record.answer === undefined) {
    const seconds = Math.max(1, Math.ceil((record.leaseUntil - now()) / 1000));
    throw new ProblemError('idempotency-key-in-use', {
      detail: 'The first request with this Idempotency-Key is still running.',
      headers: { 'retry-after': String(Math.min(seconds, 5)) },
    });
  }
  const { body } = record.answer;
  return body === null ? work(record.resourceId) : { ...record.answer, body };
}
