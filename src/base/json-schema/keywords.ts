import { isObject } from '../runtime/objects.ts';

/** The versions of JSON Schema that the service accepts. */
export type Draft = 'draft-07' | '2020-12';

const drafts = new Map<string, Draft>([
  ['json-schema.org/draft-07/schema', 'draft-07'],
  ['json-schema.org/draft/2020-12/schema', '2020-12'],
]);

/** @returns the draft that `$schema` names, 2020-12 if it is missing, or undefined if the service does not know it */
export function draftOf(dialect: unknown): Draft | undefined {
  if (dialect === undefined) return '2020-12';
  if (typeof dialect !== 'string') return undefined;
  return drafts.get(dialect.replace(/^https?:\/\//, '').replace(/#$/, ''));
}

/** Where the value of a keyword has schemas. `dependencies` can have lists of names instead of schemas. */
type Nesting = 'schema' | 'schemas' | 'schema-or-schemas' | 'schema-map' | 'dependencies';

/** What is wrong with the value of a keyword, apart from the schemas in it; undefined if nothing is. */
type Rule = (value: unknown, draft: Draft) => string | undefined;

export interface Keyword {
  readonly nesting?: Nesting;
  readonly rule?: Rule;
  /** The only draft that has it. */
  readonly only?: Draft;
  /** Whether it describes the value without restricting it. */
  readonly annotation?: true;
}

const types = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'];
const isString = (value: unknown): value is string => typeof value === 'string';
const isType = (value: unknown): boolean => isString(value) && types.includes(value);
/** A list without repetitions whose entries are all of one kind. */
const isListOf = (isEntry: (value: unknown) => boolean, value: unknown): value is unknown[] =>
  Array.isArray(value) && value.every(isEntry) && new Set(value).size === value.length;

const must =
  (words: string, isCorrect: (value: unknown, draft: Draft) => boolean): Rule =>
  (value, draft) =>
    isCorrect(value, draft) ? undefined : `must be ${words}`;
const text = must('a string', isString);
const number = must('a number', (value) => typeof value === 'number');
const count = must('a whole number, at least 0', (value) => Number.isInteger(value) && Number(value) >= 0);
const list = must('a list', Array.isArray);
const names = must('a list of different names', (value) => isListOf(isString, value));
const lists = (mayBeSchemas: boolean): Rule =>
  must('an object of lists of different names', (value) => {
    const isPart = (part: unknown): boolean => isListOf(isString, part) || (mayBeSchemas && !Array.isArray(part));
    return isObject(value) && Object.values(value).every(isPart);
  });

const schema: Keyword = { nesting: 'schema' };
const schemas: Keyword = {
  nesting: 'schemas',
  rule: must('a list of at least one schema', (value) => Array.isArray(value) && value.length > 0),
};
const map: Keyword = { nesting: 'schema-map', rule: must('an object of schemas', isObject) };
const note = (rule: Rule): Keyword => ({ rule, annotation: true });

const keywords = new Map<string, Keyword>(
  Object.entries({
    $ref: { rule: text },
    $defs: map,
    definitions: map,

    type: {
      rule: must(
        `one of, or a list of different ones of: ${types.join(', ')}`,
        (value) => isType(value) || (isListOf(isType, value) && value.length > 0),
      ),
    },
    enum: { rule: list },
    const: {},

    not: schema,
    if: schema,
    then: schema,
    else: schema,
    allOf: schemas,
    anyOf: schemas,
    oneOf: schemas,

    properties: map,
    patternProperties: map,
    additionalProperties: schema,
    unevaluatedProperties: { ...schema, only: '2020-12' },
    propertyNames: schema,
    minProperties: { rule: count },
    maxProperties: { rule: count },
    required: { rule: names },
    dependentRequired: { rule: lists(false), only: '2020-12' },
    dependentSchemas: { ...map, only: '2020-12' },
    dependencies: { nesting: 'dependencies', rule: lists(true) },

    prefixItems: { ...schemas, only: '2020-12' },
    items: {
      nesting: 'schema-or-schemas',
      rule: must(
        'one schema; for one schema for each position, use prefixItems, or draft-07',
        (value, draft) => draft === 'draft-07' || !Array.isArray(value),
      ),
    },
    additionalItems: { ...schema, only: 'draft-07' },
    unevaluatedItems: { ...schema, only: '2020-12' },
    contains: schema,
    minContains: { rule: count, only: '2020-12' },
    maxContains: { rule: count, only: '2020-12' },
    minItems: { rule: count },
    maxItems: { rule: count },
    uniqueItems: { rule: must('true or false', (value) => typeof value === 'boolean') },

    minimum: { rule: number },
    maximum: { rule: number },
    exclusiveMinimum: { rule: number },
    exclusiveMaximum: { rule: number },
    multipleOf: { rule: must('a number greater than 0', (value) => typeof value === 'number' && value > 0) },

    minLength: { rule: count },
    maxLength: { rule: count },
    pattern: { rule: text },

    title: note(text),
    description: note(text),
    format: note(text),
    examples: note(list),
    $comment: note(text),
  } satisfies Record<string, Keyword>),
);

/** @returns the rules for a keyword, or undefined if the draft does not have it; such a keyword has no effect */
export function keywordOf(name: string, draft: Draft): Keyword | undefined {
  const keyword = keywords.get(name);
  return keyword?.only === undefined || keyword.only === draft ? keyword : undefined;
}

/**
 * Replaces the schemas in the value of a keyword. A malformed value stays as it is.
 * @param change gets a schema, and its name or index in the value unless it is the value
 */
export function mapSubschemas(
  { nesting }: Keyword,
  value: unknown,
  change: (schema: unknown, step?: string) => unknown,
): unknown {
  switch (nesting) {
    case undefined:
      return value;
    case 'schema':
      return change(value);
    case 'schemas':
    case 'schema-or-schemas':
      if (Array.isArray(value)) return value.map((part: unknown, index) => change(part, String(index)));
      return nesting === 'schemas' ? value : change(value);
    case 'schema-map':
    case 'dependencies':
      if (!isObject(value)) return value;
      return Object.fromEntries(
        Object.entries(value).map(([name, part]) => [name, Array.isArray(part) ? part : change(part, name)]),
      );
  }
}

/**
 * Reads a regular expression of a schema as ECMA-262 describes it for the flag `u`. Schemas often escape characters that
 * this flag does not allow to be escaped, such as `\-` and `\@`: they are read without it.
 *
 * It can take exponential time to match. Only the threads of the checks match with it, which are stopped in time.
 *
 * @throws SyntaxError
 */
export function readPattern(source: string, Expression = RegExp): RegExp {
  try {
    return new Expression(source, 'u');
  } catch (error) {
    if (!needlessEscape.test(source)) throw error;
    return new Expression(source);
  }
}

const needlessEscape = /\\[!"#%&',:;<=>@_`~ -]/;
