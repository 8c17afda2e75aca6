import { isDeepStrictEqual } from 'node:util';
import { ProblemError } from '../errors/problem-error.ts';

/**
 * Requires that a PUT does not change read-only fields: they can be sent only with their current values.
 * @param sent the fields of the body that the operation does not change, by their names in the contract
 * @param shown the representation of the resource before the change
 * @returns true, so that it can be part of a precondition
 * @throws {ProblemError} read-only-field, with a pointer to each wrong field
 */
export function requireUnchanged(sent: object, shown: object): true {
  const present = new Map<string, unknown>(Object.entries(shown));
  const changed = Object.entries(sent).filter(([name, value]) => !isSame(value, present.get(name)));
  if (changed.length === 0) return true;
  throw new ProblemError('read-only-field', {
    detail: `A PUT cannot change: ${changed.map(([name]) => name).join(', ')}.`,
    errors: changed.map(([name]) => ({ detail: mistake(present.get(name)), pointer: `#/${name}` })),
  });
}

function mistake(present: unknown): string {
  if (present === undefined) return 'cannot be set: leave it out';
  const value = typeof present === 'object' ? '' : ` (${JSON.stringify(present)})`;
  return `cannot be changed: leave it out, or send its current value${value}`;
}

/** Clients can write the same moment in other ways: `+00:00` instead of `Z`, or more digits. */
function isSame(sent: unknown, present: unknown): boolean {
  return sent === undefined || isDeepStrictEqual(withMoments(sent), withMoments(present));
}

const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;

function withMoments(value: unknown): unknown {
  if (typeof value === 'string') return dateTime.test(value) ? Date.parse(value) : value;
  if (Array.isArray(value)) return value.map(withMoments);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withMoments(member)]));
}
