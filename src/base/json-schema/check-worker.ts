import { format, validate, type OutputUnit, type Schema } from '@cfworker/json-schema';
import { parentPort } from 'node:worker_threads';
import { endOfString, findInexactNumber, isExact } from '../runtime/inexact-numbers.ts';
import { rawJson } from '../runtime/json-text.ts';
import type { CheckJob, CheckReport, JsonSchema } from './answer-checker.ts';
import { draftOf, keywordOf, mapSubschemas, readPattern, type Draft } from './keywords.ts';
import { findJsonMistake } from './json-mistake.ts';
import { fromStep, toStep } from '../runtime/json-pointer.ts';
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

parentPort?.on('message', ({ text, schema, anywhere }: CheckJob) => {
  const values = anywhere ? readParts(text) : read(text);
  if (values !== undefined && schema !== undefined) {
    report(checkAny(schema, values));
    patterns.clear();
  }
});
report({ type: 'ready' });

/** Reads the JSON objects and arrays in a text. @returns undefined if it has none */
function readParts(text: string): readonly unknown[] | undefined {
  const parts = partsOf(text);
  if (parts.length > 0) return read(`[${parts.join()}]`, text)?.[0] as readonly unknown[] | undefined;
  report({ type: 'not-json', after: 0, length: charactersOf(text) });
  return undefined;
}

function partsOf(text: string): string[] {
  const start = /[[{]/g;
  const parts: string[] = [];
  for (let found = start.exec(text); found !== null; found = start.exec(text)) {
    const part = text.slice(found.index, findJsonMistake(text, found.index));
    if (findJsonMistake(part) !== undefined) continue;
    parts.push(part);
    start.lastIndex = found.index + part.length;
  }
  return parts;
}

/**
 * Reads a text, and reports its value.
 * @param sent what it was made of
 * @returns the value in a list; undefined if it has none
 */
function read(text: string, sent = text): readonly [unknown] | undefined {
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
    const length = charactersOf(text);
    report({ type: 'not-json', after: charactersOf(text.slice(0, findJsonMistake(text))), length });
    return undefined;
  }
  const hasInexactNumber = findInexactNumber(text) !== undefined;
  const json = hasInexactNumber ? withExactNumbers(text) : JSON.stringify(parsed);
  report({ type: 'object', ...(json !== sent && { json }), hasInexactNumber });
  return [parsed];
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

/** Whether one of the values matches. */
function checkAny(schema: JsonSchema, values: readonly unknown[]): CheckReport {
  const others: CheckReport[] = [];
  for (const value of values) {
    const found = check(schema, value);
    if (found.type === 'match') return found;
    others.push(found);
  }
  return others.find(({ type }) => type === 'unverified') ?? others[0] ?? { type: 'unverified' };
}

function check(schema: JsonSchema, value: unknown): CheckReport {
  try {
    const draft = draftOf(schema['$schema']) ?? '2020-12';
    const { valid, errors } = validate(value, effective(schema, draft), draft === 'draft-07' ? '7' : draft);
    if (valid) return { type: 'match' };
    // The schema `false` has no keyword. The keyword that contains it tells more.
    const causes = errors.filter(({ keyword }) => keyword !== 'false');
    const error = causes.find(({ keyword }) => !containers.has(keyword)) ?? causes.at(-1);
    return mismatch(schema, error);
  } catch {
    // Usually a stack overflow: the value is too deep.
    return { type: 'unverified' };
  }
}

/** Says where the answer breaks and what is wanted there, in words of the schema: nothing of the answer is in it. */
function mismatch(schema: JsonSchema, error: OutputUnit | undefined): CheckReport {
  const { instanceLocation = '#', keywordLocation = '#', keyword } = error ?? {};
  const reason = error?.keyword === 'required' ? missingIn(error) : wantedBy(schema, keywordLocation);
  const found = keyword === 'type' ? /^Instance type "(\w+)"/.exec(error?.error ?? '')?.[1] : undefined;
  return {
    type: 'mismatch',
    place: placeIn(instanceLocation, schema),
    keyword: keywordLocation.slice(0, 400),
    ...(reason !== undefined && { reason: found === undefined ? reason : `${reason}, not ${JSON.stringify(found)}` }),
  };
}

/** The required property that an object does not have. */
function missingIn({ error }: OutputUnit): string | undefined {
  const name = /property "(.*)"\.$/s.exec(error)?.[1];
  return name === undefined || name.length > longestReason ? undefined : `${JSON.stringify(name)} is missing`;
}

const longestReason = 200;

/** The value of a keyword as JSON. @returns undefined if it is long */
function wantedBy(schema: JsonSchema, location: string): string | undefined {
  const json = JSON.stringify(valueAt(schema, location, schema)) as string | undefined;
  return json === undefined || json.length > longestReason ? undefined : json;
}

/** The value at a JSON pointer of the interpreter, which leads through references. */
function valueAt(root: unknown, location: string, from: unknown): unknown {
  let value = from;
  for (const name of namesOf(location)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
    if (name === '$ref' && typeof value === 'string') value = valueAt(root, value, root);
  }
  return value;
}

function namesOf(location: string): string[] {
  const steps = location.split('/').slice(1);
  try {
    return steps.map((step) => fromStep(decodeURIComponent(step)));
  } catch {
    return steps.map(fromStep);
  }
}

/** A place in the answer. Its names can be any text of the model: only those that the schema has are kept. */
function placeIn(location: string, schema: JsonSchema): string {
  const known = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, part] of Object.entries(value)) {
      known.add(name);
      collect(part);
    }
  };
  collect(schema);
  const isKept = (name: string): boolean => /^\d{1,6}$/.test(name) || known.has(name);
  const steps = namesOf(location).map((name) => (isKept(name) ? toStep(name) : '*'));
  return steps
    .map((step) => `/${step}`)
    .join('')
    .slice(0, 300);
}

/** As a reader counts them: a pair of surrogates is one. */
function charactersOf(text: string): number {
  return text.replace(/[\ud800-\udbff][\udc00-\udfff]/g, '-').length;
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
