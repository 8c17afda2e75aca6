import { ProblemError, type ProblemDetail } from '../../../base/errors/problem-error.ts';

/** The most mistakes of an answer. */
export const mostErrors = 20;

export function datasetNotFound(name: string): ProblemError {
  return new ProblemError('dataset-not-found', { detail: `No data set has the name "${name}".` });
}

export function datasetVersionNotFound(name: string, number: number): ProblemError {
  const detail = `The data set "${name}" has no version ${number}, or it is no longer kept.`;
  return new ProblemError('version-not-found', { detail });
}

export function datasetInUse(name: string): ProblemError {
  return new ProblemError('dataset-in-use', { detail: `A gate of a label names the data set "${name}".` });
}

export function tooManyDatasets(most: number): ProblemError {
  return new ProblemError('too-many-datasets', { detail: `There are already ${most} data sets.` });
}

export function refused(detail: string, errors: readonly ProblemDetail[]): ProblemError {
  return new ProblemError('dataset-refused', { detail, ...(errors.length > 0 && { errors: [...errors] }) });
}
