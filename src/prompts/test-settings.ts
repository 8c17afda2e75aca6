import { ProblemError } from '../errors/problem-error.ts';

/** Most that test settings may have, in bytes of JSON text without blanks. */
const longest = 16 * 1024;

/**
 * Checks test settings, and returns them as they come back from storage, where they are JSON text: member names such as
 * `$where`, `a.b` or `__proto__` mean something to databases and must not get there as names.
 *
 * @param value any JSON value
 * @throws {ProblemError} invalid-request when they are larger than 16 KiB, or hold a number beyond double precision's range
 */
export function toTestSettings(value: unknown): unknown {
  const text = JSON.stringify(value, (_name, member: unknown) => {
    // `JSON.parse` reads 1e999 as infinity, which `JSON.stringify` would write as null.
    if (typeof member === 'number' && !Number.isFinite(member)) throw refusal('holds a number that is too large');
    return member;
  });
  if (Buffer.byteLength(text) > longest) throw refusal(`must have at most ${longest} bytes as JSON text`);
  return JSON.parse(text);
}

function refusal(detail: string): ProblemError {
  return new ProblemError('invalid-request', {
    detail: 'The body of the request is not valid.',
    errors: [{ detail, pointer: '#/test_settings' }],
  });
}
