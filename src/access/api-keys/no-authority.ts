import { ProblemError } from '../../base/errors/problem-error.ts';

/** The scope is there, but this is not for this caller. */
export function noAuthority(detail: string): ProblemError {
  return new ProblemError('no-authority', {
    detail,
    headers: { 'www-authenticate': 'Bearer error="insufficient_scope"' },
  });
}
