import { ProblemError } from '../errors/problem-error.ts';

/** Most that test settings may have, in bytes of JSON text without blanks. */
const longest = 16 * 1024;

/**
 * Checks test settings, and returns them as they come back from storage, where they are JSON text: member names such as
 * `$where`, `a.b` or `__proto__` mean something to databases and must not get there as names.
 *
 * @param value any JSON value
 * @throws {ProblemError} invalid-request when they are larger than 16 KiB
 */
export function toTestSettings(value: unknown): unknown {
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > longest) throw refusal(`must have at most ${longest} bytes as JSON text`);
  return JSON.parse(text);
}

function refusal(detail: string): ProblemError {
  return new ProblemError('invalid-request', {
    detail: 'The body of the request is not valid.',
    errors: [{ detail, pointer: '#/test_settings' }],
  });
}
