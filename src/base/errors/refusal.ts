import { ProblemError } from './problem-error.ts';

/** Budgets do not allow a call. */
export function isRefusal(error: unknown): error is ProblemError {
  return error instanceof ProblemError && (error.type === 'budget-exceeded' || error.type === 'cost-unknown');
}
