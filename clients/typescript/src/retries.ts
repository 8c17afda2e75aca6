import { AnswerError, ConnectionError, hasType, ProblemError, TimeoutError, UnexpectedAnswerError } from './errors.ts';
import { changedNothing } from './generated/problems.ts';
import type { OperationRow } from './generated/operations.ts';

/** A failed attempt. */
interface Failed {
  row: OperationRow;
  hasKey: boolean;
  /** The service had begun to answer with a stream. The provider may have been paid, whatever the type of the problem. */
  isStreaming: boolean;
  error: unknown;
}

/** Statuses of temporary failures. */
const transientStatuses = [408, 429, 502, 503, 504];

/** Whether an earlier request with the key of this call is still in progress. A later one gets its answer. */
export function isInProgress(error: unknown): boolean {
  return hasType(error, ['idempotency-key-in-use']);
}

/** Whether a retry can get another answer, without paying a provider again. */
function mayPass(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true;
  if (error instanceof AnswerError && error.headers.get('x-should-retry') === 'false') return false;
  if (isInProgress(error)) return true;
  // For 502 and 504 only the service itself says whether a retry makes sense. A proxy does not know.
  if (error instanceof ProblemError && (error.status === 502 || error.status === 504)) {
    const { retryable, attempts = [] } = error.problem;
    return retryable === true && !attempts.some((attempt) => attempt.may_be_billed);
  }
  return error instanceof AnswerError && transientStatuses.includes(error.status);
}

/**
 * Whether the failed attempt may have had its effect. Reads have none, a 4xx of the service means that there was none,
 * and some problem types promise it.
 */
export function mayHaveBeenApplied(row: OperationRow, error: unknown): boolean {
  if (row.method === 'GET' || hasType(error, changedNothing)) return false;
  if (error instanceof UnexpectedAnswerError && error.problem !== undefined) return false;
  return !(error instanceof ProblemError && error.status < 500);
}

/** Whether a retry cannot have a second effect: because of its method, its key, the contract, or this failure. */
function isSafe({ row, hasKey, isStreaming, error }: Failed): boolean {
  if (row.method !== 'POST' || row.repeatable === true || hasKey) return true;
  return !isStreaming && hasType(error, changedNothing);
}

/**
 * Milliseconds to wait before the next attempt; `undefined` if there is none.
 *
 * @param retry 1 before the first retry
 * @param random a number from 0 to 1
 */
export function retryDelay(
  failed: Failed,
  { retry, now, random }: { retry: number; now: number; random: number },
): number | undefined {
  const { error } = failed;
  if (!mayPass(error) || !isSafe(failed)) return undefined;
  const asked = error instanceof AnswerError ? readRetryAfter(error.headers, now) : undefined;
  // The random part keeps callers that were refused together from returning together.
  if (asked !== undefined) return asked + random * Math.min(asked / 10, 1_000);
  return Math.min(500 * 2 ** (retry - 1), 8_000) * (1 - random / 2);
}

/**
 * The pause in `Retry-After` (RFC 9110, section 10.2.3), in milliseconds. The header contains seconds, or a date on the
 * server's clock.
 */
function readRetryAfter(headers: Headers, now: number): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const serverTime = Date.parse(headers.get('date') ?? '');
  const wait = Date.parse(value) - (Number.isNaN(serverTime) ? now : serverTime);
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
