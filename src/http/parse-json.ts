import { isUtf8 } from 'node:buffer';
import { ProblemError } from '../base/errors/problem-error.ts';
import { maxNesting } from './body-scanner.ts';
import { findInexactNumber } from '../base/runtime/inexact-numbers.ts';
import { toStep, type JsonPath } from '../base/runtime/json-pointer.ts';

/**
 * Parses the bytes of a small JSON body.
 *
 * @param except where numbers need not be exact
 * @throws {ProblemError} malformed-body
 */
export function parseJson(bytes: Buffer, except?: JsonPath): unknown {
  const text = textOf(bytes);
  const value = parseText(text);
  const { hasNumbers } = checkValues(value, hasSurrogates(text));
  if (hasNumbers) requireExactNumbers(text, except);
  return value;
}

/** @throws {ProblemError} malformed-body */
export function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw notUtf8();
  // Not by TextDecoder: its strings take two bytes for each character, and so do the values parsed from them. Sending
  // an answer made from these takes three times as long.
  return bytes.toString('utf8');
}

/** @param namesPosition false if the position of a mistake says nothing to the caller */
export function parseText(text: string, { namesPosition = true } = {}): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // V8's message quotes the body. The caller only needs the position.
    const message = error instanceof Error ? error.message : '';
    throw notJson(namesPosition ? /position \d+|end of JSON input/.exec(message)?.[0] : undefined);
  }
}

/** Whether the JSON text has escapes of surrogates, which can be unpaired. */
export function hasSurrogates(text: string): boolean {
  return text.includes('\\u') && /\\ud[89a-f]/i.test(text);
}

/** @throws {ProblemError} malformed-body for a number that a double cannot hold */
export function requireExactNumbers(text: string, except?: JsonPath): void {
  const inexact = findInexactNumber(text, except);
  if (inexact !== undefined) throw notExact(inexact);
}

/**
 * Refuses valid JSON that cannot be processed: nesting that would exhaust the stack, and half surrogate pairs, which
 * escapes can contain but UTF-8 and databases cannot.
 */
export function checkValues(value: unknown, surrogates: boolean): { hasNumbers: boolean } {
  let hasNumbers = typeof value === 'number';
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= maxNesting && level.some((node) => typeof node === 'object')) throw tooDeep();
    const next: unknown[] = [];
    for (const node of level) {
      if (typeof node === 'object' && node !== null) {
        if (surrogates && Object.keys(node).some((key) => !key.isWellFormed())) throw halfPair();
        for (const member of Object.values(node)) {
          if (typeof member === 'number') hasNumbers = true;
          else if (typeof member === 'object' ? member !== null : surrogates && typeof member === 'string') {
            next.push(member);
          }
        }
      } else if (surrogates && typeof node === 'string' && !node.isWellFormed()) throw halfPair();
    }
    level = next;
  }
  return { hasNumbers };
}

/** @param position where the mistake is, if this is known */
export function notJson(position?: string): ProblemError {
  return malformed(`The body is not valid JSON${position === undefined ? '' : ` (at ${position})`}.`);
}

export function notUtf8(): ProblemError {
  return malformed('The body is not valid UTF-8.');
}

export function halfPair(): ProblemError {
  return malformed('The body contains an unpaired surrogate escape.');
}

function tooDeep(): ProblemError {
  return malformed(`The body is nested deeper than ${maxNesting - 1} levels.`);
}

function malformed(detail: string): ProblemError {
  return new ProblemError('malformed-body', { detail });
}

function notExact(path: readonly (string | number)[]): ProblemError {
  const pointer = path.map((step) => `/${toStep(String(step).slice(0, 200))}`);
  return new ProblemError('malformed-body', {
    detail:
      'The body contains a number that a double cannot hold: it has too many digits, or is too large or too small.',
    errors: [
      {
        detail: 'is a number that a double cannot hold; send it as a string',
        pointer: `#${pointer.join('')}`.slice(0, 1_000),
      },
    ],
  });
}
