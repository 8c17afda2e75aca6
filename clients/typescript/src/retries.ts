import { AnswerError, ConnectionError, hasType, ProblemError, TimeoutError } from './errors.ts';
import { changedNothing } from './generated/problems.ts';
import type { OperationRow } from './generated/operations.ts';

/** Statuses of failures that may pass. */
const transientStatuses = [408, 429, 502, 503, 504];

/** Whether a repetition can get another answer. */
function mayPass(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true;
  // The first request with this key is still in progress. Its answer comes with a repetition.
  if (hasType(error, ['idempotency-key-in-use'])) return true;
  // With 502 and 504 the service itself tells whether a repetition makes sense; a proxy does not know.
  if (error instanceof ProblemError && (error.status === 502 || error.status === 504)) {
    return error.problem.retryable === true;
  }
  return error instanceof AnswerError && transientStatuses.includes(error.status);
}

/**
 * Whether the failed attempt may have had its effect. Reads have none, a 4xx of the service says that there was none,
 * and some problem types promise it.
 */
export function mayHaveBeenApplied(row: OperationRow, error: unknown): boolean {
  if (row.method === 'GET' || hasType(error, changedNothing)) return false;
  return !(error instanceof ProblemError && error.status < 500);
}

/** Whether a repetition cannot have a second effect: by its method, its key, the contract, or this failure. */
function isSafe(row: OperationRow, hasKey: boolean, error: unknown): boolean {
  return row.method !== 'POST' || row.repeatable === true || hasKey || hasType(error, changedNothing);
}

/**
 * Milliseconds to wait before the call is repeated; `undefined` if it is not to be repeated.
 * @param retry 1 before the first retry
 * @param random a number from 0 to 1
 */
export function retryDelay(
  failed: { row: OperationRow; hasKey: boolean; error: unknown },
  { retry, now, random }: { retry: number; now: number; random: number },
): number | undefined {
  const { row, hasKey, error } = failed;
  if (!mayPass(error) || !isSafe(row, hasKey, error)) return undefined;
  const asked = error instanceof AnswerError ? readRetryAfter(error.headers, now) : undefined;
  // Callers that were refused together do not come back together.
  if (asked !== undefined) return asked + random * Math.min(asked / 10, 1_000);
  return Math.min(500 * 2 ** (retry - 1), 8_000) * (1 - random / 2);
}

/** Milliseconds that `Retry-After` asks for (RFC 9110, section 10.2.3): seconds, or a date on the server's clock. */
function readRetryAfter(headers: Headers, now: number): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const serverTime = Date.parse(headers.get('date') ?? '');
  const wait = Date.parse(value) - (Number.isNaN(serverTime) ? now : serverTime);
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
