import { ProblemError } from '../../base/errors/problem-error.ts';

/** The problem of a request without a valid key; `sent` is true if it had credentials. */
export function unauthenticated(detail: string, sent = true): ProblemError {
  // RFC 6750, section 3.1: no error code if the request has no credentials.
  const challenge = sent ? 'Bearer error="invalid_token"' : 'Bearer';
  return new ProblemError('unauthenticated', { detail, headers: { 'www-authenticate': challenge } });
}
