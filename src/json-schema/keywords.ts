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

/** What the value of a keyword must be. */
export type KeywordForm =
  /** A schema for the same value as the schema that it stands in (`not`, `allOf`), or for a part of it (`items`). */
  | 'schema'
  | 'schemas'
  | 'schema-map'
  /** `dependencies` of draft-07: schemas and lists of names. */
  | 'dependencies'
  /** `items` of draft-07: one schema, or one for each position. */
  | 'schema-or-schemas'
  | 'types'
  | 'array'
  | 'any'
  | 'number'
  | 'positive-number'
  | 'count'
  | 'boolean'
  | 'string'
  | 'names'
  | 'names-map'
  | 'pattern'
  | 'reference';

export interface Keyword {
  readonly form: KeywordForm;
  /** Whether its schemas apply to the value itself, and not to a part of it. */
  readonly inPlace?: true;
  /** The only draft that has it. */
  readonly only?: Draft;
  /** Whether it describes the value without restricting it. */
  readonly annotation?: true;
}

const annotation = (form: KeywordForm): Keyword => ({ form, annotation: true });

const keywords = new Map<string, Keyword>(
  Object.entries({
    $ref: { form: 'reference' },
    $defs: { form: 'schema-map' },
    definitions: { form: 'schema-map' },

    type: { form: 'types' },
    enum: { form: 'array' },
    const: { form: 'any' },

    not: { form: 'schema', inPlace: true },
    if: { form: 'schema', inPlace: true },
    then: { form: 'schema', inPlace: true },
    else: { form: 'schema', inPlace: true },
    allOf: { form: 'schemas', inPlace: true },
    anyOf: { form: 'schemas', inPlace: true },
    oneOf: { form: 'schemas', inPlace: true },

    properties: { form: 'schema-map' },
    patternProperties: { form: 'schema-map' },
    additionalProperties: { form: 'schema' },
    unevaluatedProperties: { form: 'schema', only: '2020-12' },
    propertyNames: { form: 'schema' },
    minProperties: { form: 'count' },
    maxProperties: { form: 'count' },
    required: { form: 'names' },
    dependentRequired: { form: 'names-map', only: '2020-12' },
    dependentSchemas: { form: 'schema-map', inPlace: true, only: '2020-12' },
    dependencies: { form: 'dependencies', inPlace: true },

    prefixItems: { form: 'schemas', only: '2020-12' },
    items: { form: 'schema-or-schemas' },
    additionalItems: { form: 'schema', only: 'draft-07' },
    unevaluatedItems: { form: 'schema', only: '2020-12' },
    contains: { form: 'schema' },
    minContains: { form: 'count', only: '2020-12' },
    maxContains: { form: 'count', only: '2020-12' },
    minItems: { form: 'count' },
    maxItems: { form: 'count' },
    uniqueItems: { form: 'boolean' },

    minimum: { form: 'number' },
    maximum: { form: 'number' },
    exclusiveMinimum: { form: 'number' },
    exclusiveMaximum: { form: 'number' },
    multipleOf: { form: 'positive-number' },

    minLength: { form: 'count' },
    maxLength: { form: 'count' },
    pattern: { form: 'pattern' },

    title: annotation('string'),
    description: annotation('string'),
    format: annotation('string'),
    examples: annotation('array'),
    $comment: annotation('string'),
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
  form: KeywordForm,
  value: unknown,
  change: (schema: unknown, step?: string) => unknown,
): unknown {
  switch (form) {
    case 'schema':
      return change(value);
    case 'schemas':
      return Array.isArray(value) ? value.map((schema: unknown, index) => change(schema, String(index))) : value;
    case 'schema-or-schemas':
      return mapSubschemas(Array.isArray(value) ? 'schemas' : 'schema', value, change);
    case 'schema-map':
      return mapEntries(value, change);
    case 'dependencies':
      return mapEntries(value, (part, step) => (Array.isArray(part) ? part : change(part, step)));
    default:
      return value;
  }
}

function mapEntries(value: unknown, change: (part: unknown, step: string) => unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, change(part, name)]));
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
