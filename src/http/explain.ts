import type { ErrorObject } from 'ajv';
import type { ProblemDetail } from '../errors/problem-error.ts';

/** More than this helps nobody and lets hostile input make large answers. */
const most = 20;
const longest = 1_000;
/** Members and elements in a body, at most, for which all errors are looked for. */
const mostParts = 2_000;

/**
 * Turns ajv errors into problem details: `pointer` is a JSON Pointer in URI fragment form (RFC 6901, section 6).
 * Errors of `anyOf`, `oneOf`, `not` and `if` branches are left to the sentence of the keyword itself.
 */
export function explainBody(errors: readonly ErrorObject[]): ProblemDetail[] {
  return distinct(errors).map((error) => ({
    detail: sentence(error),
    pointer: `#${location(error)}`.slice(0, longest),
  }));
}

/** The same for the parameters object `{ path, query, headers }`. */
export function explainParameters(errors: readonly ErrorObject[]): ProblemDetail[] {
  return distinct(errors).map((error) => {
    const [, place = '', name = ''] = location(error).split('/');
    const decoded = name.replaceAll('~1', '/').replaceAll('~0', '~');
    const detail = sentence(error);
    return place === 'headers' ? { detail, header: decoded } : { detail, parameter: decoded };
  });
}

/** Has the value few enough parts for all its errors to be looked for? */
export function isSmall(value: unknown): boolean {
  const waiting = [value];
  for (let parts = 0; parts < mostParts; parts += 1) {
    if (waiting.length === 0) return true;
    const part = waiting.pop();
    if (typeof part !== 'object' || part === null) continue;
    const members = Object.values(part);
    if (members.length > mostParts) return false;
    waiting.push(...(members as unknown[]));
  }
  return false;
}

function distinct(errors: readonly ErrorObject[]): ErrorObject[] {
  const seen = new Set<string>();
  return errors
    .filter(({ keyword }) => keyword !== 'if' && keyword !== 'propertyNames')
    .filter((error) => {
      const key = `${location(error)} ${sentence(error)}`;
      return !seen.has(key) && seen.add(key).size <= most;
    });
}

function location(error: ErrorObject): string {
  const params = error.params as Record<string, unknown>;
  const member =
    params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty'] ?? error.propertyName;
  return typeof member === 'string'
    ? `${error.instancePath}/${member.slice(0, 200).replaceAll('~', '~0').replaceAll('/', '~1')}`
    : error.instancePath;
}

function sentence(error: ErrorObject): string {
  const params = error.params as Record<string, unknown>;
  if (error.propertyName !== undefined) return 'is not an allowed name here';
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return 'is not known here';
    case 'type':
      return `must be ${String(params['type']).replaceAll(',', ' or ')}`;
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`;
    case 'minLength':
      return `must have at least ${String(params['limit'])} characters`;
    case 'maxLength':
      return `must have at most ${String(params['limit'])} characters`;
    case 'minItems':
      return `must have at least ${String(params['limit'])} items`;
    case 'maxItems':
      return `must have at most ${String(params['limit'])} items`;
    case 'maxProperties':
      return `must have at most ${String(params['limit'])} members`;
    case 'minimum':
    case 'maximum':
      return `must be ${String(params['comparison'])} ${String(params['limit'])}`;
    case 'pattern':
      return `must match ${String(params['pattern'])}`;
    case 'format':
      return `must be a valid ${String(params['format'])}`;
    case 'uniqueItems':
      return 'must not contain the same item twice';
    case 'not':
      return 'has a form that is not allowed';
    default:
      return error.message ?? 'is not valid';
  }
}
