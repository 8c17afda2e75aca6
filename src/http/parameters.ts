import type { OperationRow } from '../../generated/operations.ts';
import { ProblemError, type ProblemDetail } from '../base/errors/problem-error.ts';
import { nearestName } from '../base/fields/similar-names.ts';
import { didYouMean } from './known-members.ts';

/** Parsed parameters by place. They are not yet validated against the contract. */
export interface ParsedParameters {
  /**
   * Unknown or repeated query parameters, misspelt integers, and an `If-Match` or `Idempotency-Key` that the operation
   * does not take.
   */
  readonly mistakes: readonly ProblemDetail[];
  readonly path: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly headers: Record<string, unknown>;
}

/** The form of an integer parameter. `Number()` alone would accept `0x10`, `1e3`, `Infinity` and spaces. */
const integer = /^(0|-?[1-9]\d{0,14})$/;

/** Header fields that callers rely on. An operation that does not accept one of them refuses it. */
const reliedUpon = ['If-Match', 'Idempotency-Key'];

/** Reads the declared parameters of a request. Query parameters are known and single. */
export function parseParameters(
  row: OperationRow,
  path: Readonly<Record<string, unknown>>,
  search: string,
  headers: NodeJS.Dict<string | string[]>,
): ParsedParameters {
  const errors: ProblemDetail[] = [];
  const parsed: ParsedParameters = { path: {}, query: {}, headers: {}, mistakes: errors };
  if (search !== '' && search !== '?') readQuery(row, search, parsed.query, errors);
  for (const { name, in: place, type, names } of row.parameters) {
    if (place === 'path') parsed.path[name] = convert(path[name], type, { parameter: name }, errors);
    if (place === 'header') {
      const value = headers[name.toLowerCase()];
      if (value === undefined) continue;
      parsed.headers[name] = convert(value, type, { header: name }, errors);
      if (names !== undefined) errors.push(...otherNames(value, name, names));
    }
  }
  for (const header of reliedUpon) {
    if (headers[header.toLowerCase()] === undefined || Object.hasOwn(parsed.headers, header)) continue;
    errors.push({ detail: 'is not accepted by this operation', header });
  }
  return parsed;
}

/** The problem of parameters that do not match the contract. */
export function invalidParameters(errors: ProblemDetail[]): ProblemError {
  return new ProblemError('invalid-request', { detail: 'The parameters of the request are not valid.', errors });
}

function readQuery(row: OperationRow, search: string, query: Record<string, unknown>, errors: ProblemDetail[]): void {
  for (const [name, value] of new URLSearchParams(search)) {
    const known = row.parameters.find((parameter) => parameter.in === 'query' && parameter.name === name);
    const parameter = name.slice(0, 200);
    if (known === undefined) {
      const names = row.parameters.filter((other) => other.in === 'query').map((other) => other.name);
      errors.push({ detail: didYouMean('is unknown', nearestName(name, names)), parameter });
    } else if (Object.hasOwn(query, name)) errors.push({ detail: 'must not be repeated', parameter });
    else query[name] = convert(value, known.type, { parameter }, errors);
    if (errors.length >= 20) return;
  }
}

/** The most characters of a name in a message. */
const longestName = 100;

/** What a list of names has besides those that the contract lists. */
function otherNames(list: string | string[], header: string, names: readonly string[]): ProblemDetail[] {
  const others = String(list)
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !names.includes(name));
  return others.slice(0, 20).map((name) => {
    return {
      detail: didYouMean(`${JSON.stringify(name.slice(0, longestName))} is not supported`, nearestName(name, names)),
      header,
    };
  });
}

function convert(
  value: unknown,
  type: string,
  where: { parameter: string } | { header: string },
  errors: ProblemDetail[],
): unknown {
  if (type !== 'integer' || typeof value !== 'string') return value;
  if (integer.test(value)) return Number(value);
  errors.push({ detail: 'must be an integer', ...where });
  return undefined;
}
