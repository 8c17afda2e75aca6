import type { components } from '../../generated/types.ts';
import { ProblemError } from '../errors/problem-error.ts';
import type { FailedAttempt } from '../providers/generation.ts';

/** The contract's representation of failed calls, member by member. */
export function toAttempts(attempts: readonly FailedAttempt[]): components['schemas']['FailedAttempt'][] {
  return attempts.map(({ provider, model, problem, usage, may_be_billed }) => ({
    provider,
    model,
    problem: `urn:prompt-gateway:problem:${problem}`,
    ...(usage !== undefined && { usage: { ...usage } }),
    may_be_billed,
  }));
}

/** The problem with all calls that were made for its request. */
export function withAttempts(problem: ProblemError, attempts: readonly FailedAttempt[]): ProblemError {
  if (attempts.length === 0) return problem;
  const { type, message: detail, errors, headers, extensions, cause } = problem;
  return new ProblemError(type, {
    ...{ detail, headers: { ...headers }, extensions: { ...extensions, attempts: toAttempts(attempts) } },
    ...(errors !== undefined && { errors: [...errors] }),
    ...(cause !== undefined && { cause }),
  });
}
