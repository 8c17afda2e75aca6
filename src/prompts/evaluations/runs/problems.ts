import { ProblemError, type ProblemDetail } from '../../../base/errors/problem-error.ts';

export function evaluationNotFound(): ProblemError {
  return new ProblemError('evaluation-not-found', { detail: 'No evaluation has this id.' });
}

export function evaluationRunning(): ProblemError {
  const headers = { 'Retry-After': '2' };
  return new ProblemError('evaluation-running', { detail: 'The evaluation has not ended yet.', headers });
}

export function resultsDeleted(): ProblemError {
  return new ProblemError('evaluation-results-deleted', { detail: 'The results of this evaluation are deleted.' });
}

export function tooManyWait(most: number): ProblemError {
  return new ProblemError('too-many-evaluations', {
    detail: `${most} evaluations of this caller wait.`,
    headers: { 'Retry-After': '60' },
  });
}

/** The refusal of an evaluation for a gate. */
export function notEvaluated(detail: string): ProblemError {
  return new ProblemError('gate-evaluation-refused', { detail });
}

/** @param fewest cases that the rule needs */
export function tooFewCases(cases: number, fewest: number): ProblemError {
  return new ProblemError('too-few-cases', {
    detail: `The rule cannot be shown with ${cases} cases, however they go. It needs at least ${fewest}.`,
    errors: [{ detail: `needs at least ${fewest} cases`, pointer: '#/rule' }],
  });
}

export function inconsistent(errors: readonly ProblemDetail[]): ProblemError {
  return new ProblemError('inconsistent-content', {
    detail: 'The members of the request do not fit together.',
    errors: [...errors],
  });
}
