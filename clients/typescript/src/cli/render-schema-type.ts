import { quote } from './quote.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Larger types help nobody, and `$ref` can make a small schema very large. */
const maxParts = 1_000;
const maxDepth = 20;

const plainTypes: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

/**
 * Renders the type of the values that a JSON Schema (2020-12, draft-07) accepts. What TypeScript cannot express is left
 * out, so that every valid value has the type. It is `unknown` if nothing is left.
 *
 * @param indentation of the line that the type begins in
 */
export function renderSchemaType(root: unknown, indentation: string): string {
  let parts = 0;

  const render = (schema: unknown, indent: string, open: readonly unknown[]): string => {
    parts += 1;
    if (schema === false) return 'never';
    if (!isObject(schema) || open.length > maxDepth || open.includes(schema) || parts > maxParts) return 'unknown';
    const inside = [...open, schema];
    const sub = (other: unknown, deeper = indent): string => render(other, deeper, inside);
    const union = (key: string): string => unite(listOf(schema[key]).map((other) => sub(other)));
    const all = [
      'const' in schema ? literal(schema['const']) : 'unknown',
      'enum' in schema ? unite(listOf(schema['enum']).map(literal)) : 'unknown',
      'type' in schema ? unite([schema['type']].flat().map((type) => ofType(schema, type, indent, sub))) : 'unknown',
      '$ref' in schema ? sub(find(root, schema['$ref'])) : 'unknown',
      'anyOf' in schema ? union('anyOf') : 'unknown',
      'oneOf' in schema ? union('oneOf') : 'unknown',
      ...listOf(schema['allOf']).map((other) => sub(other)),
    ];
    // A list of values is more exact than their types.
    const exact = all.slice(0, 2).find((type) => type !== 'unknown');
    return exact ?? intersect(all);
  };
  return render(root, indentation, []);
}

function ofType(
  schema: Schema,
  type: unknown,
  indent: string,
  sub: (schema: unknown, indent?: string) => string,
): string {
  if (type === 'array') {
    const { items, prefixItems } = schema;
    return prefixItems !== undefined || Array.isArray(items) ? 'unknown[]' : `${grouped(sub(items))}[]`;
  }
  if (type !== 'object') return (typeof type === 'string' ? plainTypes[type] : undefined) ?? 'unknown';
  const { properties, additionalProperties } = schema;
  const members = new Map<string, unknown>(isObject(properties) ? Object.entries(properties) : []);
  const required = new Set(listOf(schema['required']).filter((name) => typeof name === 'string'));
  for (const name of required) if (!members.has(name)) members.set(name, undefined);
  if (members.size === 0)
    return `Record<string, ${additionalProperties === false ? 'never' : sub(additionalProperties)}>`;
  const deeper = `${indent}  `;
  const lines = [...members].map(
    ([name, member]) => `${deeper}${quote(name)}${required.has(name) ? '' : '?'}: ${sub(member, deeper)};\n`,
  );
  return `{\n${lines.join('')}${indent}}`;
}

function literal(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  return value === null || typeof value === 'boolean' || typeof value === 'number' ? String(value) : 'unknown';
}

function unite(types: readonly string[]): string {
  if (types.length === 0 || types.includes('unknown')) return 'unknown';
  const some = new Set(types.filter((type) => type !== 'never'));
  return some.size === 0 ? 'never' : [...some].join(' | ');
}

function intersect(types: readonly string[]): string {
  const some = [...new Set(types.filter((type) => type !== 'unknown'))];
  const [only = 'unknown', ...others] = some;
  return others.length === 0 ? only : some.map(grouped).join(' & ');
}

function grouped(type: string): string {
  return /^\w+$/.test(type) ? type : `(${type})`;
}

/** The schema that a `$ref` in the same document names by a JSON Pointer. */
function find(root: unknown, reference: unknown): unknown {
  if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference)) return undefined;
  let found = root;
  for (const step of reference.slice(2).split('/')) {
    if (reference === '#') return root;
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!isObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
