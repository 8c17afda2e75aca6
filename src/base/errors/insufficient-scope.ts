import { ProblemError } from './problem-error.ts';

/** The refusal of a caller that does not have a scope (RFC 6750, section 3.1). */
export function insufficientScope(scope: string, kind: 'person' | 'key' = 'key'): ProblemError {
  return new ProblemError('insufficient-scope', {
    detail: `${kind === 'person' ? 'None of your roles has' : 'This key does not have'} the scope ${scope}.`,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  });
}
