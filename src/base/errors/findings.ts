import type { ProblemType } from '../../../generated/problems.ts';
import { ProblemError, type ProblemDetail } from './problem-error.ts';

/**
 * One reason to refuse a request, with each place where it applies. Without places, the request is correct in this
 * respect.
 */
export interface Finding {
  readonly type: ProblemType;
  /** A sentence about the mistake. */
  readonly detail: string;
  readonly errors: readonly ProblemDetail[];
}

/**
 * Refuses a request with all mistakes of one kind together.
 * @param findings in the order of the operation's list of problems
 * @throws {ProblemError} the first finding with a place, with the places of all
 */
export function refuseFindings(...findings: readonly Finding[]): void {
  const first = findings.find(({ errors }) => errors.length > 0);
  if (first === undefined) return;
  throw new ProblemError(first.type, { detail: first.detail, errors: findings.flatMap(({ errors }) => errors) });
}
