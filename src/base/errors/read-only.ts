import { ProblemError } from './problem-error.ts';

/** The refusal of a change by a process that was started with `READ_ONLY=on`. */
export function readOnly(): ProblemError {
  return new ProblemError('read-only', {
    detail: 'This process was started with READ_ONLY=on. It changes nothing and calls no provider.',
    headers: { 'www-authenticate': 'Bearer' },
  });
}
