import { ProblemError } from './problem-error.ts';

/** The refusal of a key that does not have a scope (RFC 6750, section 3.1). */
export function insufficientScope(scope: string): ProblemError {
  return new ProblemError('insufficient-scope', {
    detail: `This key does not have the scope ${scope}.`,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  });
}
