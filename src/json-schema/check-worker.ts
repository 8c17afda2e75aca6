import { format, validate, type Schema } from '@cfworker/json-schema';
import { parentPort } from 'node:worker_threads';
import type { CheckJob, CheckResult } from './answer-checker.ts';
import { draftOf, isObject, keywordOf, mapSubschemas, type Draft } from './keywords.ts';
import { LinearPattern } from './patterns.ts';

/** Keywords that fail because of the schemas in them. Their own mistakes come first, then those of the schemas. */
const containers = new Set(
  '$ref allOf if properties patternProperties additionalProperties unevaluatedProperties propertyNames dependentSchemas dependencies prefixItems items additionalItems unevaluatedItems'.split(
    ' ',
  ),
);

// This thread runs only the interpreter, which reads the patterns of a schema with `new RegExp(…)`. Its own expressions
// are literals: they stay as they are.
const patterns = new Map<string, LinearPattern>();
Object.assign(globalThis, {
  RegExp: function RegExp(source: string): LinearPattern {
    const pattern = patterns.get(source) ?? new LinearPattern(source);
    patterns.set(source, pattern);
    return pattern;
  },
});

// A format only describes, as in 2020-12.
for (const name of Object.keys(format)) Reflect.deleteProperty(format, name);
Object.setPrototypeOf(format, null);

parentPort?.on('message', (job: CheckJob) => {
  parentPort?.postMessage(check(job));
  patterns.clear();
});
parentPort?.postMessage('ready');

function check({ schema, json }: CheckJob): CheckResult {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return { status: 'invalid', place: '#', keyword: '#' };
  }
  try {
    const draft = draftOf(schema['$schema']) ?? '2020-12';
    const { valid, errors } = validate(value, effective(schema, draft), draft === 'draft-07' ? '7' : draft);
    if (valid) return { status: 'valid' };
    // The schema `false` has no keyword. The keyword that contains it tells more.
    const causes = errors.filter(({ keyword }) => keyword !== 'false');
    const error = causes.find(({ keyword }) => !containers.has(keyword)) ?? causes.at(-1);
    return {
      status: 'invalid',
      place: (error?.instanceLocation ?? '#').slice(0, 500),
      keyword: (error?.keywordLocation ?? '#').slice(0, 500),
    };
  } catch {
    // Usually a stack overflow: the value is too deep.
    return { status: 'unverified' };
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
      const effectiveValue = mapSubschemas(keyword.form, value, (part) =>
        isObject(part) ? effective(part, draft) : part,
      );
      return [[name, effectiveValue]];
    }),
  );
}
