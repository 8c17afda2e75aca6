import { ProblemError } from '../../base/errors/problem-error.ts';
import type { TestRun } from './test-run.ts';

/** A run that ended without results, or whose results no longer exist. */
export function notStored({ id, status }: Pick<TestRun, 'id' | 'status'>): ProblemError {
  const detail =
    status === 'failed'
      ? `The results of test run ${id} could not be stored.`
      : status === 'interrupted'
        ? `Test run ${id} was interrupted before its results were stored.`
        : `The results of test run ${id} are no longer in object storage.`;
  return new ProblemError('test-run-not-stored', { detail });
}

/** A run whose results do not have the size that was recorded. */
export function damaged({ id }: Pick<TestRun, 'id'>, cause: Error): ProblemError {
  const detail = `The results of test run ${id} are damaged in object storage.`;
  return new ProblemError('test-run-not-stored', { detail, cause });
}

/** A run that was deleted with its prompt. */
export function promptDeleted(): ProblemError {
  return new ProblemError('prompt-not-found', { detail: 'The prompt was deleted while its test ran.' });
}

/** A run that the stopping process has cut. Its calls may be billed, so clients must not repeat it by themselves. */
export function cutOff(): ProblemError {
  return new ProblemError('interrupted', {
    detail: 'The service stopped before the answer was complete.',
    headers: { 'Retry-After': '5', 'X-Should-Retry': 'false' },
  });
}

/** A process that accepts no more runs. */
export function shuttingDown(): ProblemError {
  return new ProblemError('shutting-down', {
    detail: 'This process is stopping. Try again.',
    headers: { 'Retry-After': '5' },
  });
}
