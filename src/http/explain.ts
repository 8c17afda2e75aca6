import type { ErrorObject } from 'ajv';
import type { ProblemDetail } from '../base/errors/problem-error.ts';
import type { OperationId } from '../../generated/operations.ts';
import { exclusionWords, formatWords, inUrl, limitWords, patternWords } from './contract-words.ts';
import { didYouMean, meantMember } from './known-members.ts';
import { fromStep, toStep } from '../base/runtime/json-pointer.ts';

/** The most errors of an answer. More do not help, and hostile input could create large answers. */
const maxErrors = 20;
const longest = 1_000;
/** The most members and elements of a body whose errors are all searched. */
const maxParts = 2_000;
/** The most bytes of such a body. */
const maxBytes = 1024 * 1024;

/**
 * Turns ajv errors into problem details: `pointer` is a JSON Pointer in URI fragment form (RFC 6901, section 6). If a
 * value can have one of several forms (`anyOf`, `oneOf`), one sentence names them all. An unknown member comes with the known one
 * that may be meant.
 */
export function explainBody(operationId: OperationId, errors: readonly ErrorObject[]): ProblemDetail[] {
  const meant = ({ instancePath, params }: ErrorObject): string | undefined => {
    const { additionalProperty, unevaluatedProperty = additionalProperty } = params as Record<string, unknown>;
    if (typeof unevaluatedProperty !== 'string') return undefined;
    return meantMember(operationId, instancePath.split('/').slice(1).map(fromStep), unevaluatedProperty);
  };
  return distinct(errors).map((error) => ({
    detail: didYouMean(sentence(error), meant(error)),
    pointer: `#${location(error)}`.slice(0, longest),
  }));
}

/** The same for the parameters object `{ path, query, headers }`. */
export function explainParameters(errors: readonly ErrorObject[]): ProblemDetail[] {
  return distinct(errors).map((error) => {
    const [, place = '', name = ''] = location(error).split('/');
    const decoded = fromStep(name);
    const detail = sentence(error);
    return place === 'headers' ? { detail, header: decoded } : { detail: inUrl(detail), parameter: decoded };
  });
}

/**
 * Whether the value is small enough to search for all its errors.
 * @param counted its members and elements, and the bytes from which it was parsed, if they are known
 */
export function isSmall(value: unknown, { parts, bytes = 0 }: { parts?: number; bytes?: number } = {}): boolean {
  if (bytes > maxBytes) return false;
  if (parts !== undefined) return parts <= maxParts;
  const waiting = [value];
  for (let seen = 0; seen < maxParts; seen += 1) {
    if (waiting.length === 0) return true;
    const part = waiting.pop();
    if (typeof part !== 'object' || part === null) continue;
    const members = Object.values(part);
    if (members.length > maxParts) return false;
    waiting.push(...(members as unknown[]));
  }
  return false;
}

function distinct(errors: readonly ErrorObject[]): ErrorObject[] {
  const seen = new Set<string>();
  const alternatives = new Set(
    errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf').map(location),
  );
  return errors
    .filter(({ keyword }) => keyword !== 'if' && keyword !== 'propertyNames')
    .map((error) => (alternatives.has(location(error)) ? inOneSentence(error, errors) : error))
    .filter((error) => {
      const key = `${location(error)} ${sentence(error)}`;
      return !seen.has(key) && seen.add(key).size <= maxErrors;
    });
}

/** Combines the errors about forms at one place into one error. All such errors at this place become the same. */
function inOneSentence(error: ErrorObject, errors: readonly ErrorObject[]): ErrorObject {
  const forms = errors.filter((other) => location(other) === location(error)).flatMap((other) => formOf(other) ?? []);
  if (forms.length === 0) return error;
  return { ...error, keyword: 'anyOf', params: { sentence: `must ${[...new Set(forms)].join(' or ')}` } };
}

function formOf({ keyword, params }: ErrorObject): string | undefined {
  const values = params as Record<string, unknown>;
  if (keyword === 'pattern') return patternWords.get(String(values['pattern']));
  return keyword === 'format' ? formatWords.get(String(values['format'])) : undefined;
}

function wordsAt({ schemaPath }: ErrorObject, words: typeof exclusionWords): string | undefined {
  return words.find(([path]) => path.test(schemaPath))?.[1];
}

function counted(limit: unknown, noun: string): string {
  return `${String(limit)} ${noun}${limit === 1 ? '' : 's'}`;
}

function location(error: ErrorObject): string {
  const params = error.params as Record<string, unknown>;
  const member =
    params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty'] ?? error.propertyName;
  return typeof member === 'string' ? `${error.instancePath}/${toStep(member.slice(0, 200))}` : error.instancePath;
}

function sentence(error: ErrorObject): string {
  const params = error.params as Record<string, unknown>;
  const [, other] = /\/dependentSchemas\/([^/]+)\//.exec(error.schemaPath) ?? [];
  if (other !== undefined) return `cannot be combined with ${other}`;
  if (error.propertyName !== undefined) return 'is not an allowed name';
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return 'is unknown';
    case 'type':
      return `must be ${String(params['type']).replaceAll(',', ' or ')}`;
    case 'false schema':
      return 'is not allowed here';
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`;
    case 'minLength':
      return `must have at least ${counted(params['limit'], 'character')}`;
    case 'maxLength':
      return `must have at most ${counted(params['limit'], 'character')}`;
    case 'minItems':
      return `must have at least ${counted(params['limit'], 'item')}`;
    case 'maxItems':
      return `must have at most ${counted(params['limit'], 'item')}`;
    case 'minProperties':
      return `must have at least ${counted(params['limit'], 'member')}`;
    case 'maxProperties':
      return `must have at most ${counted(params['limit'], 'member')}`;
    case 'minimum':
    case 'maximum':
      return `must ${wordsAt(error, limitWords) ?? `be ${String(params['comparison'])} ${String(params['limit'])}`}`;
    case 'pattern':
      return `must ${formOf(error) ?? `match ${String(params['pattern'])}`}`;
    case 'format':
      return `must ${formOf(error) ?? `be a valid ${String(params['format'])}`}`;
    case 'anyOf':
    case 'oneOf':
      return String(error.params['sentence'] ?? 'must have one of the allowed forms');
    case 'uniqueItems':
      return 'must not contain the same item twice';
    case 'not':
      return `must ${wordsAt(error, exclusionWords) ?? 'not have this form'}`;
    default:
      return error.message ?? 'is not valid';
  }
}
