import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  NoContentGeneratedError,
  TypeValidationError,
} from '@ai-sdk/provider';
import { ProblemError } from '../../errors/problem-error.ts';
import type { Conceal } from './conceal.ts';
import { readError, readErrorBody, type SaidError } from './error-body.ts';
import { findErrorCode } from './error-codes.ts';
import type { FailedAttempt, Usage } from '../language-model.ts';
import { ProviderHttpError } from '../transport/whole-response.ts';
import { ImpossibleModelError } from '../vendors/vendor.ts';
import { readDelay, readRetryAfter } from '../../outbound/retry-after.ts';

/** The problem types of failed calls. */
export const failureTypes = [
  'provider-failed',
  'provider-timeout',
  'provider-refused-credentials',
  'provider-rate-limited',
  'provider-bad-answer',
] as const;

/** The failure of one call. Only `message` and `code` are the provider's text, and fit for callers. */
export interface Failure {
  readonly type: (typeof failureTypes)[number];
  /** A fixed sentence with at most the provider's status and a known error code. */
  readonly detail: string;
  /** The provider's words; for a host that was not reached, the code of the system, and where. */
  readonly message?: string;
  /** The provider's code, or that of the system. */
  readonly code?: string;
  /** HTTP status of the provider's answer, if there was one. */
  readonly status?: number;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** Whether the provider may charge for the call. It is then repeated only if the request says so. */
  readonly mayBeBilled: boolean;
  /** As far as the provider said. */
  readonly usage?: Usage;
  /** How long the provider asks to wait, in milliseconds. */
  readonly retryAfter?: number;
  /** For the log; free of keys and prompt text. */
  readonly cause?: Error;
}

/** What a failure is described with. */
export interface FailureContext {
  /** Milliseconds since the epoch, for a `Retry-After` that is a date. */
  readonly now: number;
  /** What operators check if the provider refuses the credentials, for a sentence. */
  readonly credentials: string;
  /** Every text of the provider goes through it. */
  readonly conceal: Conceal;
}

/**
 * Classifies the error of a rejected `doGenerate`.
 *
 * Errors of the provider packages contain the request, the answer or both in their message, so they are never passed
 * on, not even as a cause.
 */
export function toFailure(error: unknown, context: FailureContext): Failure {
  return (
    findFailure(error, context) ?? {
      type: 'provider-failed',
      detail: 'The provider could not be called with this request.',
      retryable: false,
      mayBeBilled: false,
      cause: withoutMessage(error),
    }
  );
}

/**
 * Classifies what breaks a stream that has begun: the error of a rejected read, or an error that the provider reports
 * in an event.
 */
export function toStreamFailure(error: unknown, context: FailureContext): Failure {
  if (error instanceof Error) return findFailure(error, context) ?? { ...badAnswer(), cause: withoutMessage(error) };
  return toEventFailure(error, context);
}

/** @param event the provider's error, or what its package made of it */
function toEventFailure(event: unknown, context: FailureContext): Failure {
  const { statusCode, data = event, message } = asRecord(event);
  const code = findErrorCode(stringify(data));
  const answered = code ?? 'within the answer';
  const status = [statusCode, asRecord(data)['code'], statusOf(code)].map(Number).find(isErrorStatus);
  const said = { ...readError(message), ...readError(data) };
  return withWords(toStatusFailure(status ?? 500, code, answered, undefined, context), said, context);
}

function findFailure(error: unknown, context: FailureContext): Failure | undefined {
  const transport = findTransportError(error);
  if (transport) return toTransportFailure(transport);
  if (APICallError.isInstance(error) && error.statusCode !== undefined) {
    const { statusCode: status, responseBody: body, responseHeaders: headers, data } = error;
    const said = readErrorBody(body, data);
    if (status >= 200 && status < 300) {
      const isError = body !== undefined && /^\s*\{\s*"(?:error|detail|object"\s*:\s*"error)"/.test(body);
      return isError ? withWords(badAnswer(status), said, context) : badAnswer(status);
    }
    const code = findErrorCode(body);
    const answered = code === undefined ? `status ${status}` : `status ${status}, ${code}`;
    const retryAfter = retryAfterOf(headers, new Date(context.now));
    const failure = { ...toStatusFailure(status, code, answered, retryAfter, context), status };
    // Amazon has the code in a header: `ValidationException:http://…`.
    const type = headers?.['x-amzn-errortype']?.split(':')[0];
    return withWords(failure, { ...(type !== undefined && { code: type }), ...said }, context);
  }
  // An event that is not of the format, because it is an error in another one.
  if (TypeValidationError.isInstance(error) && asRecord(error.value)['error'] !== undefined) {
    return toEventFailure(error.value, context);
  }
  if (answerErrors.some((type) => type.isInstance(error))) return badAnswer();
  if (error instanceof ImpossibleModelError) {
    return { type: 'provider-failed', detail: 'The provider has no such model.', retryable: false, mayBeBilled: false };
  }
  // What the package for Anthropic throws when the first event of a stream is not JSON.
  if (error instanceof Error && error.message === 'Expected a normalized Anthropic stream error') return badAnswer();
  return undefined;
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
    mayBeBilled: waitedFor === 'provider',
  };
}

/** The failure of a stream that passed a limit after its first content. */
export function endlessStream(limit: 'silence' | 'total'): Failure {
  return {
    type: 'provider-timeout',
    detail:
      limit === 'silence'
        ? 'The provider stopped sending in the middle of the answer.'
        : 'The answer took longer than the service allows.',
    retryable: true,
    mayBeBilled: true,
  };
}

/** The failure of a call whose answer is longer than the service accepts. */
export function tooLarge(status?: number): Failure {
  return {
    type: 'provider-bad-answer',
    detail: "The provider's answer is too large.",
    ...(status !== undefined && { status }),
    retryable: false,
    mayBeBilled: true,
  };
}

/** The problem that the caller gets for a failure, with `Retry-After` in whole seconds if the provider asks to wait. */
export function toProblem(failure: Failure, provider: string, model: string): ProblemError {
  const { type, detail, message, code, status, retryable, mayBeBilled, retryAfter, usage, cause } = failure;
  return new ProblemError(type, {
    detail,
    extensions: {
      provider,
      model,
      retryable: retryable && !mayBeBilled,
      ...(status !== undefined && { provider_status: status }),
      ...(code !== undefined && { provider_code: code }),
      ...(message !== undefined && { provider_message: message }),
      ...(usage && { usage }),
    },
    ...(retryAfter !== undefined && {
      headers: { 'Retry-After': String(Math.max(1, Math.ceil(retryAfter / 1000))) },
    }),
    cause,
  });
}

/** The entry of a failure in the list of attempts. */
export function toAttempt(failure: Failure, provider: string, model: string): FailedAttempt {
  const { type: problem, message, code, usage, mayBeBilled } = failure;
  return {
    provider,
    model,
    problem,
    ...(code !== undefined && { provider_code: code }),
    ...(message !== undefined && { provider_message: message }),
    ...(usage && { usage }),
    may_be_billed: mayBeBilled,
  };
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

function toStatusFailure(
  status: number,
  code: string | undefined,
  answered: string,
  retryAfter: number | undefined,
  { credentials }: FailureContext,
): Failure {
  // Google answers a wrong key with 400.
  if (status === 401 || status === 403 || code === 'API_KEY_INVALID') {
    const detail = `The provider does not accept the configured credentials (${answered}). Check ${credentials}.`;
    const known = code === undefined ? {} : { code };
    return { type: 'provider-refused-credentials', detail, ...known, retryable: false, mayBeBilled: false };
  }
  const wait = retryAfter === undefined ? {} : { retryAfter };
  if (status === 429) {
    // An exhausted quota does not recover within seconds.
    const retryable = code !== 'insufficient_quota';
    const detail = `The provider limits the rate of requests (${answered}).`;
    return { type: 'provider-rate-limited', detail, retryable, mayBeBilled: false, ...wait };
  }
  const detail = `The provider answered with an error (${answered}).`;
  return {
    type: 'provider-failed',
    detail,
    retryable: isTransient(status),
    mayBeBilled: mayHaveWorked(status),
    ...wait,
  };
}

/** Whether a server that answers with this status may have generated something before. An overloaded one has not. */
function mayHaveWorked(status: number): boolean {
  return status === 408 || (status >= 500 && status !== 503 && status !== 529);
}

/**
 * Adds what the provider says, except about refused credentials: such texts contain parts of keys, and names of accounts.
 */
function withWords(failure: Failure, { message, code }: SaidError, { conceal }: FailureContext): Failure {
  if (failure.type === 'provider-refused-credentials') return failure;
  const words = message === undefined ? undefined : conceal(message);
  return {
    ...failure,
    ...(words !== undefined && { message: words }),
    ...(code !== undefined && conceal(code) === code && { code }),
  };
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
    mayBeBilled: true,
  };
}

/** The failure of a call whose answer broke off. */
export function incompleteAnswer(): Failure {
  return { ...badAnswer(), detail: "The provider's answer is incomplete." };
}

function toTransportFailure({ reason, status, cause, host }: ProviderHttpError): Failure {
  const code = codeOf(cause);
  const known = {
    ...(code !== undefined && { code, message: [code, host].join(' ').trim() }),
    ...(status !== undefined && { status }),
    ...(cause instanceof Error && { cause }),
  };
  const where = known.message === undefined ? '' : ` (${known.message})`;
  switch (reason) {
    case 'unreachable': {
      // A host that does not exist or has no valid certificate will also fail a second later.
      const retryable = transientCodes.has(code ?? '');
      const detail = `The provider could not be reached${where}.`;
      return { type: 'provider-failed', detail, retryable, mayBeBilled: false, ...known };
    }
    case 'unanswered': {
      const detail = `The provider closed the connection without an answer${where}.`;
      return { type: 'provider-failed', detail, retryable: true, mayBeBilled: true, ...known };
    }
    case 'cut':
      return { ...incompleteAnswer(), ...known };
    case 'too-large':
      return tooLarge(status);
  }
}

/** Of connections that could not be opened. */
const transientCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'ETIMEOUT',
  'EAI_AGAIN',
]);

/** The code of the system for what undici names itself. */
const systemCodes: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
};

function codeOf(cause: unknown): string | undefined {
  const code: unknown = asRecord(cause)['code'];
  return typeof code === 'string' && /^[A-Z][A-Z_0-9]{1,99}$/.test(code) ? (systemCodes[code] ?? code) : undefined;
}

function findTransportError(error: unknown): ProviderHttpError | undefined {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    if (current instanceof ProviderHttpError) return current;
    current = current.cause;
  }
  return undefined;
}

/** The status with which the providers send an error of this code when they do not stream. */
function statusOf(code = ''): number | undefined {
  if (/rate_limit|quota|RESOURCE_EXHAUSTED/.test(code)) return 429;
  if (/overloaded|UNAVAILABLE/.test(code)) return 503;
  if (/authentication|invalid_api_key|UNAUTHENTICATED/.test(code)) return 401;
  if (/permission/i.test(code)) return 403;
  return /invalid|unsupported|not_found|context_length|content_|too_large/i.test(code) ? 400 : undefined;
}

function isErrorStatus(status: number): boolean {
  return status >= 400 && status <= 599;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
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
