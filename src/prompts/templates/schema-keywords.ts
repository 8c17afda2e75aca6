/** The keywords of a JSON Schema that restrict values, read for a comparison. */

/** What restricts the values of a schema, by keyword. */
export type Keywords = ReadonlyMap<string, unknown>;

/** More of what they count match fewer values. */
export const lowerBounds = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties', 'minContains'];
/** More of what they count match more values. */
export const upperBounds = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties', 'maxContains'];
/** The schemas of members and elements that are not named one by one. */
export const restSchemas = [
  ...['additionalProperties', 'unevaluatedProperties'],
  ...['items', 'additionalItems', 'unevaluatedItems'],
];
/** Lists of schemas, one of which has to match. */
export const unions = ['anyOf', 'oneOf'];
/** What a comparison only sees to be new, gone or different. */
export const opaque = [
  ...['format', 'pattern', 'multipleOf', 'uniqueItems', 'allOf', 'not', 'if', 'then', 'else', 'contains'],
  ...['propertyNames', 'dependentRequired', 'dependentSchemas', 'dependencies'],
];
const restricting = new Set([
  ...['type', 'enum', 'const', 'properties', 'required', 'patternProperties', 'prefixItems'],
  ...[...lowerBounds, ...upperBounds, ...restSchemas, ...unions, ...opaque],
]);
/** The most references that are followed one after the other, where no schema says more. */
const maxSteps = 32;
const types = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'];

/** A schema, and those that it refers to (`$ref`, `allOf`), each once. */
export function partsOf(schema: unknown, root: unknown): readonly unknown[] {
  const parts = new Set([schema]);
  for (const part of parts) {
    const [reference, all] = [memberOf(part, '$ref'), memberOf(part, 'allOf')];
    if (typeof reference === 'string') parts.add(targetOf(reference, root));
    if (Array.isArray(all)) for (const one of all) parts.add(one);
  }
  return [...parts];
}

/**
 * Reads schemas that have to match together as if they were one. What cannot be joined remains in `allOf`. Keywords that
 * restrict nothing, for the service, are left out.
 */
export function keywordsOf(parts: readonly unknown[]): Keywords {
  const all = new Map<string, unknown>();
  const rest: unknown[] = [];
  for (const [keyword, value] of parts.flatMap((part) => [...membersOf(part)])) {
    const present = all.get(keyword);
    if (!restricting.has(keyword) || keyword === 'allOf' || isNeutral(keyword, value)) continue;
    const joined = present === undefined ? value : join(keyword, present, value);
    if (joined === undefined) rest.push({ [keyword]: value });
    else all.set(keyword, joined);
  }
  if (rest.length > 0) all.set('allOf', rest);
  return all;
}

/** The schema that a schema stands for, if it only refers to it. */
export function standsFor(schema: unknown, root: unknown): unknown {
  let found = schema;
  for (let steps = 0; steps < maxSteps; steps += 1) {
    const reference = memberOf(found, '$ref');
    const saysMore = [...membersOf(found).keys()].some((keyword) => restricting.has(keyword));
    if (typeof reference !== 'string' || saysMore) break;
    found = targetOf(reference, root);
  }
  return found;
}

/** The members of the value of a keyword by name, or by index. */
export function membersOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
}

export function typesOf(keywords: Keywords): ReadonlySet<string> {
  if (!keywords.has('type')) return new Set(types);
  const named = [keywords.get('type')].flat().map(String);
  return new Set(named.flatMap((type) => (type === 'number' ? [type, 'integer'] : type)));
}

/** The values that a schema lists, as JSON texts. */
export function valuesOf(keywords: Keywords): ReadonlySet<string> | undefined {
  const listed = keywords.has('const') ? [keywords.get('const')] : keywords.get('enum');
  return Array.isArray(listed) ? new Set(listed.map((value) => JSON.stringify(value))) : undefined;
}

/** The schemas one of which has to match, if a schema says nothing else. */
export function formsOf(keywords: Keywords): readonly unknown[] | undefined {
  const [form] = keywords.size === 1 ? unions.map((keyword) => keywords.get(keyword)).filter(Array.isArray) : [];
  return form;
}

/** What a reference names. The service accepts only `#`, and `#/` with a JSON pointer. */
function targetOf(reference: string, root: unknown): unknown {
  const steps = reference.split('/').slice(1);
  return steps.reduce(
    (value, step) => memberOf(value, decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')),
    root,
  );
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

/** Whether a value restricts nothing. */
function isNeutral(keyword: string, value: unknown): boolean {
  return restSchemas.includes(keyword) ? value === true : keyword === 'uniqueItems' && value === false;
}

/** One value that restricts as two of them do, or undefined. */
function join(keyword: string, one: unknown, other: unknown): unknown {
  if (JSON.stringify(one) === JSON.stringify(other)) return one;
  if (keyword === 'required') return [one, other].flat();
  if (keyword !== 'properties') return undefined;
  const joined = new Map(membersOf(one));
  for (const [name, schema] of membersOf(other)) {
    joined.set(name, joined.has(name) ? { allOf: [joined.get(name), schema] } : schema);
  }
  return Object.fromEntries(joined);
}
