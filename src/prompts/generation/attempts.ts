import type { components } from '../../../generated/types.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { FailedAttempt } from '../../models/language-model.ts';

/** The contract's representation of failed calls, member by member. */
export function toAttempts(attempts: readonly FailedAttempt[]): components['schemas']['FailedAttempt'][] {
  return attempts.map(({ provider, model, problem, provider_code, provider_message, usage, may_be_billed }) => ({
    provider,
    model,
    problem: `urn:prompt-gateway:problem:${problem}`,
    ...(provider_code !== undefined && { provider_code }),
    ...(provider_message !== undefined && { provider_message }),
    ...(usage !== undefined && { usage: { ...usage } }),
    may_be_billed,
  }));
}

/**
 * The problem with all calls that were made for its request. The service has made those that make sense, so clients are
 * told not to repeat the request by themselves. If a call may have been billed, a repetition may pay twice.
 */
export function withAttempts(problem: ProblemError, attempts: readonly FailedAttempt[]): ProblemError {
  if (attempts.length === 0) return problem;
  const { type, message: detail, errors, headers, cause } = problem;
  const isFree = attempts.every(({ may_be_billed }) => !may_be_billed);
  const { retryable, ...extensions } = problem.extensions;
  return new ProblemError(type, {
    detail,
    headers: { ...headers, 'x-should-retry': 'false' },
    extensions: {
      ...extensions,
      ...(retryable !== undefined && { retryable: retryable && isFree }),
      attempts: toAttempts(attempts),
    },
    ...(errors !== undefined && { errors: [...errors] }),
    ...(cause !== undefined && { cause }),
  });
}
