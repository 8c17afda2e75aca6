import { format, validate, type Schema } from '@cfworker/json-schema';
import { parentPort } from 'node:worker_threads';
import { endOfString, findInexactNumber, isExact } from '../runtime/inexact-numbers.ts';
import { rawJson } from '../runtime/json-text.ts';
import type { CheckJob, CheckReport, JsonSchema } from './answer-checker.ts';
import { draftOf, keywordOf, mapSubschemas, readPattern, type Draft } from './keywords.ts';
import { isObject } from '../runtime/objects.ts';

/** Keywords that fail because of the schemas in them. Their own mistakes come first, then those of the schemas. */
const containers = new Set(
  '$ref allOf if properties patternProperties additionalProperties unevaluatedProperties propertyNames dependentSchemas dependencies prefixItems items additionalItems unevaluatedItems'.split(
    ' ',
  ),
);

// This thread runs only the interpreter, which reads the patterns of a schema with `new RegExp(…)`. Its own expressions
// are literals: they stay as they are.
const Expression = RegExp;
const patterns = new Map<string, RegExp>();
Object.assign(globalThis, {
  RegExp: function RegExp(source: string): RegExp {
    const pattern = patterns.get(source) ?? readPattern(source, Expression);
    patterns.set(source, pattern);
    return pattern;
  },
});

// A format only describes, as in 2020-12.
for (const name of Object.keys(format)) Reflect.deleteProperty(format, name);
Object.setPrototypeOf(format, null);

/** The deepest nesting of arrays and objects in an answer. Readers of JSON have such limits too. */
const maxDepth = 100;
/**
 * The most members of objects and elements of arrays in an answer that is read. They need up to 36 times the memory of
 * their text, and more for numbers that are kept as they are written: a thread without memory takes many seconds to end.
 */
const maxValues = 200_000;

const report = (message: CheckReport): void => parentPort?.postMessage(message);

parentPort?.on('message', ({ text, schema }: CheckJob) => {
  const value = read(text);
  if (value !== undefined && schema !== undefined) {
    report(check(schema, value.parsed));
    patterns.clear();
  }
});
report({ type: 'ready' });

/** Reads a text, and reports its value. @returns undefined if it has none */
function read(text: string): { readonly parsed: unknown } | undefined {
  const { values, depth } = measure(text);
  if (depth > maxDepth) {
    report({ type: 'too-deep', limit: maxDepth });
    return undefined;
  }
  if (values > maxValues) {
    report({ type: 'unverified' });
    return undefined;
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    report({ type: 'not-json' });
    return undefined;
  }
  const hasInexactNumber = findInexactNumber(text) !== undefined;
  const json = hasInexactNumber ? withExactNumbers(text) : JSON.stringify(parsed);
  report({ type: 'object', ...(json !== text && { json }), hasInexactNumber });
  return { parsed };
}

/**
 * Counts what is in a text before any value is made of it, up to the first too much: the levels, and arrays, objects and
 * commas for the values. If the text is not JSON, the counts are about right.
 */
function measure(text: string): { readonly values: number; readonly depth: number } {
  let [values, open, depth] = [0, 0, 0];
  for (let at = 0; at < text.length && values <= maxValues && depth <= maxDepth; at += 1) {
    const sign = text[at];
    if (sign === '"') at = (endOfString(text, at) || text.length) - 1;
    if (sign === ',' || sign === '[' || sign === '{') values += 1;
    if (sign === '[' || sign === '{') depth = Math.max(depth, (open += 1));
    if (sign === ']' || sign === '}') open -= 1;
  }
  return { values, depth };
}

/** The value of a text as JSON, with its numbers as they are written. */
function withExactNumbers(text: string): string {
  // The types of TypeScript do not have the third parameter yet.
  const keep = (_name: string, value: unknown, { source = '' }: { source?: string } = {}): unknown =>
    typeof value === 'number' && !isExact(source) ? rawJson(source) : value;
  return JSON.stringify(JSON.parse(text, keep));
}

function check(schema: JsonSchema, value: unknown): CheckReport {
  try {
    const draft = draftOf(schema['$schema']) ?? '2020-12';
    const { valid, errors } = validate(value, effective(schema, draft), draft === 'draft-07' ? '7' : draft);
    if (valid) return { type: 'match' };
    // The schema `false` has no keyword. The keyword that contains it tells more.
    const causes = errors.filter(({ keyword }) => keyword !== 'false');
    const error = causes.find(({ keyword }) => !containers.has(keyword)) ?? causes.at(-1);
    return {
      type: 'mismatch',
      place: (error?.instanceLocation ?? '#').slice(0, 500),
      keyword: (error?.keywordLocation ?? '#').slice(0, 500),
    };
  } catch {
    // Usually a stack overflow: the value is too deep.
    return { type: 'unverified' };
  }
}

/**
 * @returns the schema without what has no effect in its draft. The interpreter has the keywords of all drafts, and looks
 *   for references and identifiers everywhere
 */
function effective(schema: Readonly<Record<string, unknown>>, draft: Draft): Schema {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([name, value]) => {
      const keyword = keywordOf(name, draft);
      if (keyword === undefined || keyword.annotation) return [];
      const effectiveValue = mapSubschemas(keyword, value, (part) => (isObject(part) ? effective(part, draft) : part));
      return [[name, effectiveValue]];
    }),
  );
}
