import { isObject } from '../base/runtime/objects.ts';
import { listOperations, resolve, type MediaType, type OpenApiDocument, type Schema } from './contract-document.ts';

/** A case of `x-examples`: what differs from the example of the schema. */
interface Case {
  readonly summary?: string;
  readonly value?: unknown;
}

/**
 * Makes the examples that follow from others: of a component without one from those of its members, of a body from that of
 * its schema. `x-examples` names cases of a body that say more: each `value` has only the members that differ.
 */
export function addExamples(document: OpenApiDocument): void {
  for (const schema of Object.values(document.components.schemas)) {
    const example = exampleOf(document, schema);
    if (isObject(example) || Array.isArray(example)) schema['examples'] ??= [example];
  }
  for (const { operation } of listOperations(document)) {
    const answers = Object.values(operation.responses).map((response) => resolve(document, response));
    for (const body of [operation.requestBody, ...answers]) {
      for (const [type, media] of Object.entries(body?.content ?? {})) {
        if (type === 'application/json') addExamplesOfBody(document, media);
      }
    }
  }
}

function addExamplesOfBody(
  document: OpenApiDocument,
  media: MediaType & { 'x-examples'?: Record<string, Case> },
): void {
  const { 'x-examples': cases = { example: {} }, example, examples } = media;
  Reflect.deleteProperty(media, 'x-examples');
  if ((example ?? examples) !== undefined) return;
  const whole = exampleOf(document, media.schema);
  media.examples = Object.fromEntries(
    Object.entries(cases).map(([name, { value, ...rest }]) => [name, { ...rest, value: laidOver(whole, value) }]),
  );
}

/** A value with the members of an object, also within it, in place of its own. Anything else replaces it. */
function laidOver(value: unknown, changes: unknown): unknown {
  if (changes === undefined) return value;
  if (!isObject(value) || !isObject(changes)) return changes;
  const changed = Object.entries(changes).map(([name, change]) => [name, laidOver(value[name], change)]);
  return { ...value, ...(Object.fromEntries(changed) as object) };
}

/**
 * The example of a schema, or one that is made of the examples of its members: of the required ones, or of all if none is
 * required.
 */
export function exampleOf(document: object, reference: Schema): unknown {
  const schema = resolve(document, reference) as {
    examples?: unknown[];
    const?: unknown;
    required?: string[];
    properties?: Record<string, Schema>;
    items?: Schema;
    maxItems?: number;
    type?: string | string[];
  } & Record<'allOf' | 'oneOf' | 'anyOf', Schema[] | undefined>;
  const {
    type,
    properties = {},
    required = Object.keys(properties),
    items,
    maxItems,
    allOf,
    oneOf,
    anyOf = oneOf,
  } = schema;
  if (schema.examples !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (items !== undefined) return [exampleOf(document, items)].filter((item) => item !== undefined && maxItems !== 0);
  if (allOf !== undefined) return Object.assign({}, ...allOf.map((part) => exampleOf(document, part))) as object;
  if (anyOf?.[0] !== undefined) return exampleOf(document, anyOf[0]);
  if (![type].flat().includes('object')) return undefined;
  return Object.fromEntries(required.map((name) => [name, exampleOf(document, properties[name] ?? {})]));
}
