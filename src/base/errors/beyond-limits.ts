import { ProblemError, type ProblemDetail } from './problem-error.ts';

/**
 * Refuses what reaches other prompts than those that the key is limited to.
 * @param reach of the key
 * @param action what the key cannot do, as the end of a sentence
 * @throws {ProblemError} beyond-limits
 */
export function requireEveryPrompt(reach: { readonly prompts: unknown } | undefined, action: string): void {
  if (reach?.prompts === undefined) return;
  throw beyondLimits(`This key is limited to some prompts, so it cannot ${action}.`);
}

/** The refusal of a key whose limits do not allow a request. @param errors where the request names what is not allowed */
export function beyondLimits(detail: string, errors: readonly ProblemDetail[] = []): ProblemError {
  return new ProblemError('beyond-limits', {
    detail,
    headers: { 'www-authenticate': 'Bearer error="insufficient_scope"' },
    ...(errors.length > 0 && { errors: [...errors] }),
  });
}
