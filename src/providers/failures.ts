import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  NoContentGeneratedError,
  TypeValidationError,
} from '@ai-sdk/provider';
import { ProblemError } from '../errors/problem-error.ts';
import { findErrorCode } from './error-codes.ts';
import type { Usage } from './generation.ts';
import { ProviderHttpError } from './http.ts';
import { ImpossibleModelError } from './language-models.ts';
import { readDelay, readRetryAfter } from '../outbound/retry-after.ts';

/** The problem types of failed calls. */
export const failureTypes = [
  'provider-failed',
  'provider-timeout',
  'provider-refused-credentials',
  'provider-rate-limited',
  'provider-bad-answer',
] as const;

/** The failure of one call, described by the service without any text of the provider. */
export interface Failure {
  readonly type: (typeof failureTypes)[number];
  /** A fixed sentence with at most the provider's status and a known error code. */
  readonly detail: string;
  /** HTTP status of the provider's answer, if there was one. */
  readonly status?: number;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** Whether the service repeats the call: only if the provider cannot have charged for an answer. */
  readonly tryAgain: boolean;
  /** Whether the provider may charge for the call; false if left out. */
  readonly mayBeBilled?: boolean;
  /** As far as the provider said. */
  readonly usage?: Usage;
  /** How long the provider asks to wait, in milliseconds. */
  readonly retryAfter?: number;
  /** For the log; free of keys and prompt text. */
  readonly cause?: Error;
}

/**
 * Classifies the error of a rejected `doGenerate`.
 *
 * Errors of the provider packages contain the request, the answer or both in their message, so they are never passed
 * on, not even as a cause.
 *
 * @param now Milliseconds since the epoch, for a `Retry-After` that is a date.
 */
export function toFailure(error: unknown, now: number): Failure {
  const transport = findTransportError(error);
  if (transport) return toTransportFailure(transport);
  if (APICallError.isInstance(error) && error.statusCode !== undefined) {
    const succeeded = error.statusCode >= 200 && error.statusCode < 300;
    return succeeded ? badAnswer(error.statusCode) : toStatusFailure(error, error.statusCode, now);
  }
  if (answerErrors.some((type) => type.isInstance(error))) return badAnswer();
  if (error instanceof ImpossibleModelError) {
    return { type: 'provider-failed', detail: 'The provider has no such model.', retryable: false, tryAgain: false };
  }
  return {
    type: 'provider-failed',
    detail: 'The provider could not be called with this request.',
    retryable: false,
    tryAgain: false,
    cause: withoutMessage(error),
  };
}

/** The failure of a call whose deadline passed while it waited for the provider or for a place in the queue. */
export function timeout(waitedFor: 'provider' | 'turn'): Failure {
  return {
    type: 'provider-timeout',
    detail:
      waitedFor === 'provider'
        ? 'The provider did not answer before the deadline.'
        : 'Too many calls to this provider are in progress. The deadline passed before this call began.',
    retryable: true,
    tryAgain: false,
    mayBeBilled: waitedFor === 'provider',
  };
}

/** The problem that the caller gets for a failure. For rate limits it contains `Retry-After`, in whole seconds. */
export function toProblem(failure: Failure, provider: string, model: string): ProblemError {
  const { type, detail, status, retryable, retryAfter, usage, cause } = failure;
  return new ProblemError(type, {
    detail,
    extensions: {
      provider,
      model,
      retryable,
      ...(status !== undefined && { provider_status: status }),
      ...(usage && { usage }),
    },
    ...(type === 'provider-rate-limited' &&
      retryAfter !== undefined && { headers: { 'Retry-After': String(Math.max(1, Math.ceil(retryAfter / 1000))) } }),
    cause,
  });
}

/**
 * Whether another provider or model may answer the request of a failed call. Not if the provider refused the request
 * itself.
 */
export function mayFallBack({ type, extensions: { provider_status: status } }: ProblemError): boolean {
  if (type !== 'provider-failed') return failureTypes.some((known) => known === type);
  return status === undefined || status >= 500 || isTransient(status);
}

const answerErrors = [
  JSONParseError,
  TypeValidationError,
  InvalidResponseDataError,
  NoContentGeneratedError,
  EmptyResponseBodyError,
];

function toStatusFailure(error: APICallError, status: number, now: number): Failure {
  const code = findErrorCode(error.responseBody);
  const answered = code === undefined ? `status ${status}` : `status ${status}, ${code}`;
  const retryAfter = retryAfterOf(error.responseHeaders, new Date(now));

  // Google answers a wrong key with 400.
  if (status === 401 || status === 403 || code === 'API_KEY_INVALID') {
    const detail = `The provider does not accept the configured credentials (${answered}).`;
    return { type: 'provider-refused-credentials', detail, status, retryable: false, tryAgain: false };
  }
  if (status === 429) {
    // An exhausted quota does not recover within seconds.
    const retryable = code !== 'insufficient_quota';
    const detail = `The provider limits the rate of requests (${answered}).`;
    const wait = retryAfter === undefined ? {} : { retryAfter };
    return { type: 'provider-rate-limited', detail, status, retryable, tryAgain: retryable, ...wait };
  }
  const retryable = isTransient(status);
  const wait = retryAfter === undefined ? {} : { retryAfter };
  const detail = `The provider answered with an error (${answered}).`;
  return { type: 'provider-failed', detail, status, retryable, tryAgain: retryable, ...wait };
}

/** 408 Request Timeout, 425 Too Early, and server errors except the permanent ones (501, 505). */
function isTransient(status: number): boolean {
  return status === 408 || status === 425 || (status >= 500 && status !== 501 && status !== 505);
}

/** The failure of a call whose answer is not a completion. */
export function badAnswer(status?: number): Failure {
  return {
    type: 'provider-bad-answer',
    detail: "The service cannot read the provider's answer.",
    ...(status !== undefined && { status }),
    retryable: true,
    tryAgain: false,
    mayBeBilled: true,
  };
}

function toTransportFailure({ reason, status, cause }: ProviderHttpError): Failure {
  const known = { ...(status !== undefined && { status }), ...(cause instanceof Error && { cause }) };
  switch (reason) {
    case 'unreachable': {
      // A host that does not exist or has no valid certificate will also fail a second later.
      const retryable = transientCodes.has(String((cause as { code?: unknown } | undefined)?.code));
      const detail = 'The provider could not be reached.';
      return { type: 'provider-failed', detail, retryable, tryAgain: retryable, ...known };
    }
    case 'cut': {
      const detail = "The provider's answer is incomplete.";
      return { type: 'provider-bad-answer', detail, retryable: true, tryAgain: false, mayBeBilled: true, ...known };
    }
    case 'too-large': {
      const detail = "The provider's answer is too large.";
      return { type: 'provider-bad-answer', detail, retryable: false, tryAgain: false, mayBeBilled: true, ...known };
    }
  }
}

const transientCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function findTransportError(error: unknown): ProviderHttpError | undefined {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    if (current instanceof ProviderHttpError) return current;
    current = current.cause;
  }
  return undefined;
}

/** An error's name and stack frames, without its message. */
function withoutMessage(error: unknown): Error {
  const copy = new Error(error instanceof Error ? error.name : typeof error);
  const frames = error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line)) : [];
  copy.stack = [String(copy), ...frames].join('\n');
  return copy;
}

/**
 * How long a provider asks callers to wait: `retry-after-ms` (OpenAI, Azure), else `Retry-After`.
 *
 * @param headers response headers by lower-case name
 * @returns milliseconds from now, at least 0 and at most a day; undefined if absent or invalid
 */
export function retryAfterOf(headers: Readonly<Record<string, string>> | undefined, now: Date): number | undefined {
  return readDelay(headers?.['retry-after-ms'], 1) ?? readRetryAfter(headers?.['retry-after'], now);
}
