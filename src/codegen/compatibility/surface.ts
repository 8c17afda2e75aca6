import {
  isOnlyNull,
  listOperations,
  resolve,
  type MediaType,
  type OpenApiDocument,
  type OperationEntry,
  type Schema,
} from '../contract-document.ts';
import type { AsyncApiDocument } from '../event-contract.ts';

/**
 * Everything that callers or receivers can rely on, as a tree. Two trees differ if the contracts differ in effect. The
 * tree does not contain texts, examples, `$ref`s and the order of items. The first characters of a key show its kind:
 *
 * - `.name` a property, a parameter or a header; `=value` a value of a list,
 * - `[]`, `{}`, `names` the schemas of items, of other members, of the names of members,
 * - in a schema, the types that a value can have, each with the rules for values of this type.
 */
export interface Surface {
  [key: string]: Surface | string | number | boolean;
}

/** Both bundled contracts. */
export interface Contracts {
  readonly api: OpenApiDocument;
  readonly events: AsyncApiDocument;
}

const jsonTypes = ['string', 'number', 'boolean', 'null', 'array', 'object'] as const;
type JsonType = (typeof jsonTypes)[number];

/** Keywords that do not limit the valid values. `contentSchema` describes an event, which is compared as an event. */
const annotations = new Set([
  'title',
  'description',
  'examples',
  'example',
  'deprecated',
  'discriminator',
  'contentSchema',
  '$comment',
]);

/** The type that a keyword belongs to. Other keywords belong to all types. */
const typeOfKeyword: Readonly<Record<string, JsonType>> = {
  minLength: 'string',
  maxLength: 'string',
  pattern: 'string',
  format: 'string',
  contentMediaType: 'string',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'number',
  items: 'array',
  minItems: 'array',
  maxItems: 'array',
  uniqueItems: 'array',
  properties: 'object',
  required: 'object',
  additionalProperties: 'object',
  dependentSchemas: 'object',
  unevaluatedProperties: 'object',
  propertyNames: 'object',
  minProperties: 'object',
  maxProperties: 'object',
};

/** The surface of the API (`operations`), of the events, and of their signatures and authentication (`schemes`). */
export function readSurface({ api, events }: Contracts): Surface {
  return {
    schemes: { ...schemes(api.components['securitySchemes']), ...schemes(events.components.securitySchemes) },
    operations: keyed(listOperations(api), (entry) => [
      `${entry.method.toUpperCase()} ${entry.path}`,
      readOperation(api, entry),
    ]),
    events: keyed(Object.values(events.channels.integration.messages), (message) => {
      const { name, headers, payload } = resolve(events, message);
      return [name, { headers: readSchema(events, headers), payload: readSchema(events, payload) }];
    }),
  };
}

function keyed<T>(values: readonly T[], entry: (value: T) => [string, Surface]): Surface {
  return Object.fromEntries(values.map(entry));
}

function schemes(declared: object = {}): Surface {
  return keyed(Object.entries(declared as Record<string, Schema>), ([name, scheme]) => [name, exact(scheme)]);
}

function exact(schema: Schema): Surface {
  const facts = Object.entries(schema).filter(([key]) => !annotations.has(key));
  return Object.fromEntries(facts.map(([key, value]) => [key, JSON.stringify(value)]));
}

function withoutAnnotations(key: string, value: unknown): unknown {
  return annotations.has(key) ? undefined : value;
}

function readOperation(api: OpenApiDocument, { operation, parameters }: OperationEntry): Surface {
  const { operationId, tags = [], requestBody, responses } = operation;
  const security = operation.security ?? (api['security'] as typeof operation.security) ?? [];
  return {
    operationId,
    tag: tags[0] ?? '',
    security: keyed(security, (alternative) => [
      Object.keys(alternative).join(' and '),
      Object.fromEntries(Object.values(alternative).flatMap((scopes) => scopes.map((scope) => [scope, true]))),
    ]),
    parameters: keyed(parameters, ({ name, in: place, required, schema }) => [
      `.${name} (${place})`,
      member(readSchema(api, schema), required),
    ]),
    body: member(readContent(api, requestBody?.content), requestBody?.required),
    answers: keyed(Object.entries(responses), ([status, reference]) => {
      const { headers = {}, content } = resolve(api, reference);
      return [status, { headers: readHeaders(api, headers), content: readContent(api, content) }];
    }),
  };
}

function readHeaders(api: OpenApiDocument, headers: object): Surface {
  return keyed(Object.entries(headers as Record<string, { required?: boolean; schema: Schema }>), ([name, header]) => {
    const { schema, required } = resolve(api, header);
    return [`.${name}`, member(readSchema(api, schema), required)];
  });
}

function readContent(api: OpenApiDocument, content: Record<string, Partial<MediaType>> = {}): Surface {
  return keyed(Object.entries(content), ([media, { schema = {}, 'x-event-schema': events, 'x-line-schema': line }]) => [
    media,
    {
      ...readSchema(api, schema),
      ...(events !== undefined && { events: readSchema(api, events) }),
      ...(line !== undefined && { line: readSchema(api, line) }),
    },
  ]);
}

function member(surface: Surface, required: boolean | undefined): Surface {
  return required === true ? { required, ...surface } : surface;
}

/** @param within the references that contain this schema, because a schema can contain itself */
function readSchema(document: object, schema: object, within: readonly string[] = []): Surface {
  const { $ref } = schema as { $ref?: string };
  if ($ref !== undefined && within.includes($ref)) return { [`recursive ${$ref}`]: true };
  const below = $ref === undefined ? within : [...within, $ref];
  const alternatives = alternativesOf(document, schema as Schema);
  const other = alternatives.find(({ title }) => title === 'OtherValue');
  const surface: Surface = {};
  for (const type of jsonTypes) {
    const ofType = alternatives.filter((one) => one !== other && typesOf(one).includes(type));
    const [lists, rest] = [ofType.filter(valuesOf), ofType.filter((one) => valuesOf(one) === undefined)];
    if (lists.length > 0)
      surface[type] = readList(
        document,
        type,
        lists.flatMap((one) => valuesOf(one) ?? []),
        other,
      );
    for (const one of rest) {
      surface[ofType.length === 1 ? type : `${type} ${kindOf(document, one)}`] = readShape(document, one, type, below);
    }
  }
  return surface;
}

/** The schemas without `$ref`, `allOf`, `anyOf` and `oneOf`. A value must match one of them. */
function alternativesOf(document: object, schema: Schema): Schema[] {
  const found = resolve(document, schema);
  if (isOnlyNull(found)) return [{ type: 'null' }];
  const { 'x-extensible-enum': known, ...open } = found;
  if (known !== undefined)
    return [
      { ...open, enum: known },
      { ...open, title: 'OtherValue' },
    ];
  const { allOf = [], anyOf, oneOf, ...own } = found as Record<string, Schema[] | undefined>;
  const groups = [...allOf.map((part) => [part]), anyOf, oneOf].filter((group) => group !== undefined);
  return groups.reduce<Schema[]>(
    (merged, group) => {
      const options = group.flatMap((option) => alternativesOf(document, option));
      return merged.flatMap((one) => options.map((other) => merge(one, other)));
    },
    [own],
  );
}

function merge(one: Schema, other: Schema): Schema {
  const properties = [one, other].flatMap((schema) => Object.entries((schema['properties'] ?? {}) as object));
  const byName = Map.groupBy(properties, ([name]) => name);
  const required = [one, other].flatMap((schema) => (schema['required'] ?? []) as string[]);
  return {
    ...one,
    ...other,
    ...(byName.size > 0 && {
      properties: Object.fromEntries(
        [...byName].map(([name, found]) => [
          name,
          found.length === 1 ? found[0]?.[1] : { allOf: found.map(([, schema]) => schema as Schema) },
        ]),
      ),
    }),
    ...(required.length > 0 && { required }),
  };
}

function typesOf(schema: Schema): JsonType[] {
  const types = [schema['type'] ?? valuesOf(schema)?.map(typeOf) ?? jsonTypes].flat() as (JsonType | 'integer')[];
  return [...new Set(types.map((type) => (type === 'integer' ? 'number' : type)))];
}

/** The values that a schema lists, if it lists any. */
function valuesOf({ const: single, enum: several }: Schema): readonly unknown[] | undefined {
  return single === undefined ? (several as readonly unknown[] | undefined) : [single];
}

function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : (typeof value as JsonType);
}

/**
 * What distinguishes alternatives of one type: a property with one value, such as `status=failed`, a format, or a
 * title.
 */
function kindOf(document: object, { properties = {}, format, title = '' }: Schema): string {
  for (const [name, schema] of Object.entries(properties as Record<string, Schema>)) {
    const value = resolve(document, schema)['const'];
    if (typeof value === 'string') return `${name}=${value}`;
  }
  return String(format ?? title);
}

/**
 * A list has the `only` values, or the values that are `known` today. Then `other` is the schema of values in later
 * releases.
 */
function readList(document: object, type: JsonType, values: readonly unknown[], other: Schema | undefined): Surface {
  const listed = values.filter((value) => typeOf(value) === type);
  const list = Object.fromEntries(listed.map((value) => [`=${String(value)}`, true]));
  return other === undefined ? { only: list } : { known: list, ...readShape(document, other, type, []) };
}

/** The rules for values of one type. Other keywords are compared as a whole. */
function readShape(document: object, schema: Schema, type: JsonType, within: readonly string[]): Surface {
  const read = (below: unknown): Surface => readSchema(document, below as object, within);
  const shape: Surface = {};
  if (type === 'number' && [schema['type']].flat().includes('integer')) shape['integer'] = true;
  for (const [keyword, value] of Object.entries(schema)) {
    const isAnnotation = annotations.has(keyword) || keyword.startsWith('x-');
    if (isAnnotation || (typeOfKeyword[keyword] ?? type) !== type) continue;
    switch (keyword) {
      case 'type':
      case 'required':
        break;
      case 'default':
        if (typeOf(value) === type) shape[keyword] = JSON.stringify(value);
        break;
      case 'properties':
        for (const [name, property] of Object.entries(value as object)) {
          shape[`.${name}`] = member(read(property), ((schema['required'] ?? []) as string[]).includes(name));
        }
        break;
      case 'items':
        shape['[]'] = read(value);
        break;
      case 'propertyNames':
        shape['names'] = read({ type: 'string', ...(value as Schema) });
        break;
      case 'additionalProperties':
      case 'unevaluatedProperties':
        if (value === false) shape['closed'] = true;
        else if (value !== true) shape['{}'] = read(value);
        break;
      default:
        shape[keyword] =
          typeof value === 'number' || value === true ? value : JSON.stringify(value, withoutAnnotations);
    }
  }
  return shape;
}
