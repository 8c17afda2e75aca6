import { ProblemError, type ProblemDetail } from './problem-error.ts';

/** The refusal of a key whose limits do not allow a request. @param errors where the request names what is not allowed */
export function beyondLimits(detail: string, errors: readonly ProblemDetail[] = []): ProblemError {
  return new ProblemError('beyond-limits', {
    detail,
    headers: { 'www-authenticate': 'Bearer error="insufficient_scope"' },
    ...(errors.length > 0 && { errors: [...errors] }),
  });
}
