import { ProblemError, type ProblemDetail } from '../../base/errors/problem-error.ts';

/** An id in a request body, and its place. */
export interface PlacedId {
  readonly id: string;
  /** JSON pointer. */
  readonly pointer: string;
}

/**
 * Requires that the ids of each group are different from each other.
 * @throws ProblemError `invalid-request` that names each repeated id
 */
export function requireUniqueIds(...groups: readonly (readonly PlacedId[])[]): void {
  const errors = groups.flatMap(repeated);
  if (errors.length > 0)
    throw new ProblemError('invalid-request', { detail: 'The body of the request is not valid.', errors });
}

function repeated(ids: readonly PlacedId[]): ProblemDetail[] {
  const seen = new Set<string>();
  return ids.flatMap(({ id, pointer }) => {
    if (seen.has(id)) return [{ detail: 'is already the id of an earlier entry', pointer }];
    seen.add(id);
    return [];
  });
}
