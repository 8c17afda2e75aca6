import { isObject } from '../base/runtime/objects.ts';
import { resolve, type OpenApiDocument, type Schema } from './contract-document.ts';

/**
 * The contract in the form that generators of clients read best. Of two kinds of `anyOf`, and of a constant that has a name,
 * many make types that fail or that nobody can read (Rust, ogen, openapi-fetch):
 *
 * - A value list of an answer, which `openapi/` writes as an `anyOf` that ends with `OtherValue`, becomes a string. Its
 *   values are in the description and in `x-extensible-enum`.
 * - An `anyOf` whose parts have different types becomes a `oneOf`, which says the same.
 * - A component that is a constant stands where it is used.
 *
 * What nothing refers to then is left out. Of the lists of values that are left, those with a value that another has stand
 * where they are used: in Go, the values of such components are constants of one package.
 */
export function publishUnions(document: OpenApiDocument): OpenApiDocument {
  const other = document.components.schemas['OtherValue'] ?? {};
  const publish = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(publish);
    if (!isObject(node)) return node;
    const target = resolve(document, node as Schema);
    if (target !== node && target['const'] !== undefined) return withoutTitle(target);
    const union = isUnion(node) ? publishUnion(node) : node;
    return Object.fromEntries(Object.entries(union).map(([key, value]) => [key, publish(value)]));
  };
  const publishUnion = (union: Union): Schema => {
    const { anyOf: parts, ...own } = union.anyOf.some(isOther) ? withStrings(union) : union;
    if (parts === undefined) return own;
    const types = parts.flatMap((part) => resolve(document, part)['type'] ?? 'any');
    // An integer is a number, too.
    const areApart =
      new Set(types).size === types.length && !types.some((type) => type === 'any' || type === 'integer');
    return areApart ? { ...own, oneOf: parts } : union;
  };
  const withStrings = ({ anyOf, ...own }: Union): Schema & { anyOf?: Schema[] } => {
    const parts = anyOf.filter((part) => !isOther(part));
    const lists = parts.map((part) => resolve(document, part)).filter(isValueList);
    const rest = parts.filter((part) => !isValueList(resolve(document, part)));
    const values = lists.flatMap((list) => list.enum);
    const { minLength, maxLength } = other;
    const string = { type: 'string', minLength, maxLength, 'x-extensible-enum': values };
    const known = `Values: ${values.map((value) => `\`${value}\``).join(', ')}. Later releases can add others.`;
    const texts = [own['description'], ...lists.map((list) => list['description']), known];
    const described = { ...own, description: texts.filter((text) => text !== undefined).join('\n\n') };
    if (rest.length === 0) return { ...string, ...described };
    return { ...described, anyOf: [{ title: lists[0]?.['title'], ...string }, ...rest] };
  };
  const published = publish(document) as OpenApiDocument;
  const { schemas } = published.components;
  for (const [name, schema] of Object.entries(schemas)) {
    if (name === 'OtherValue' || schema['const'] !== undefined) Reflect.deleteProperty(schemas, name);
  }
  leaveOutUnused(published);
  const apart = placeSharedLists(published);
  leaveOutUnused(apart);
  return apart;
}

function placeSharedLists(document: OpenApiDocument): OpenApiDocument {
  const lists = Object.values(document.components.schemas).filter(isValueList);
  const values = lists.flatMap((list) => list.enum);
  const shared = new Set(values.filter((value, index) => values.indexOf(value) !== index));
  const place = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(place);
    if (!isObject(node)) return node;
    const target = resolve(document, node as Schema);
    const isShared = target !== node && isValueList(target) && target.enum.some((value) => shared.has(value));
    if (isShared) return withoutTitle(target);
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, place(value)]));
  };
  return place(document) as OpenApiDocument;
}

function leaveOutUnused(document: OpenApiDocument): void {
  const text = JSON.stringify(document);
  const kinds = Object.entries(document.components as Record<string, object>);
  const unused = kinds
    .filter(([kind]) => kind !== 'securitySchemes')
    .flatMap(([kind, components]) => Object.keys(components).map((name) => ({ kind, components, name })))
    .filter(({ kind, name }) => !text.includes(`"#/components/${kind}/${name}"`));
  for (const { components, name } of unused) Reflect.deleteProperty(components, name);
  // What only they referred to.
  if (unused.length > 0) leaveOutUnused(document);
}

type Union = Schema & { anyOf: Schema[] };
type ValueList = Schema & { enum: string[] };

function withoutTitle(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== 'title'));
}

function isValueList(schema: Schema): schema is ValueList {
  return Array.isArray(schema['enum']);
}

function isUnion(node: Schema): node is Union {
  return Array.isArray(node['anyOf']);
}

function isOther({ $ref }: Schema): boolean {
  return $ref === '#/components/schemas/OtherValue';
}
