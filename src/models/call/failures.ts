import { ProblemError } from '../../base/errors/problem-error.ts';
import type { FailedAttempt, GenerateResult, Usage } from '../language-model.ts';

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
  readonly message?: string | undefined;
  /** The provider's code, or that of the system. */
  readonly code?: string | undefined;
  /** HTTP status of the provider's answer, if there was one. */
  readonly status?: number | undefined;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** Whether the provider may charge for the call. It is then repeated only if the request says so. */
  readonly mayBeBilled: boolean;
  /**
   * Whether the request was sent over a kept connection that its server had closed, as far as one can know. It is
   * repeated once, at once, over a new one.
   */
  readonly isStale?: boolean;
  /** As far as the provider said. */
  readonly usage?: Usage | undefined;
  /** The answer, if it is whole and cannot be used. */
  readonly refused?: GenerateResult | undefined;
  /** How long the provider asks to wait, in milliseconds. */
  readonly retryAfter?: number | undefined;
  /** For the log; free of keys and prompt text. */
  readonly cause?: Error | undefined;
}

/** The deadline passed while the call waited for the provider, or for a place in the queue. */
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

/** A stream passed a limit after its first content. */
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

/** The answer is longer than the service accepts. */
export function tooLarge(status?: number): Failure {
  const detail = "The provider's answer is too large.";
  return { type: 'provider-bad-answer', detail, status, retryable: false, mayBeBilled: true };
}

/** The answer is not a completion. */
export function badAnswer(status?: number): Failure {
  const detail = "The service cannot read the provider's answer.";
  return { type: 'provider-bad-answer', detail, status, retryable: true, mayBeBilled: true };
}

/** The answer broke off. */
export function incompleteAnswer(): Failure {
  return { ...badAnswer(), detail: "The provider's answer is incomplete." };
}

/** The provider says itself that its answer has failed, and not why. */
export function failedAnswer(): Failure {
  return { ...badAnswer(), detail: 'The provider ended its answer with an error.' };
}

/** What is wrong with a call of a tool whose caller needs an object. */
export const noArgumentObject = 'The arguments of a call of a tool are not a JSON object.';

/** A call of a tool in a stream is not what the caller can use. */
export function unfitCall(): Failure {
  return { ...badAnswer(), detail: noArgumentObject };
}

/** The answer is whole, but not what its caller can use. Another one to the same request may be. */
export function unfitAnswer(detail: string, refused: GenerateResult): Failure {
  return { ...badAnswer(), detail, usage: refused.usage, refused };
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

/** 408 Request Timeout, 425 Too Early, and server errors except the permanent ones (501, 505). */
export function isTransient(status: number): boolean {
  return status === 408 || status === 425 || (status >= 500 && status !== 501 && status !== 505);
}
