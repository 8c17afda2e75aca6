import { listOperations, resolve, type OpenApiDocument, type Schema } from './contract-document.ts';
import { exampleOf } from './examples.ts';

/** What it reads of a contract. The events' contract has no operations. */
interface Titled {
  readonly paths?: OpenApiDocument['paths'];
  readonly components: { readonly schemas: Record<string, Schema> };
}

/**
 * Makes each object, array and union with a title a component of this name, so that types are generated for it. If it has
 * no example, its part of the example around it becomes its example, or one that is made of the examples of its members.
 * Value lists stay where they are.
 *
 * @throws Error if the schema of a stream's events has no title
 */
export function separateTitledSchemas(document: Titled): void {
  const { schemas } = document.components;
  const separate = (schema: Schema, example: unknown): Schema => {
    const { title } = schema;
    const isComponent = typeof title === 'string' && isCompound(schema);
    if (isComponent) schema['examples'] ??= [example ?? exampleOf(document, schema)];
    separateMembers(schema, firstOf(schema['examples']) ?? example);
    if (!isComponent) return schema;
    schemas[title] = schema;
    return { $ref: `#/components/schemas/${title}` };
  };
  const separateMembers = (schema: Schema, example: unknown): void => {
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'properties') {
        const properties = Object.entries(value as Record<string, Schema>);
        schema[keyword] = Object.fromEntries(
          properties.map(([name, property]) => [name, separate(property, memberOf(example, name))]),
        );
      } else if (unions.includes(keyword)) {
        schema[keyword] = (value as Schema[]).map((part) => separate(part, undefined));
      } else if (members.includes(keyword) && typeof value === 'object') {
        schema[keyword] = separate(value as Schema, Object.values(example ?? {})[0]);
      }
    }
  };
  for (const schema of Object.values(schemas)) separateMembers(schema, firstOf(schema['examples']));
  for (const { operation } of listOperations({ ...document, paths: document.paths ?? {} })) {
    const answers = Object.values(operation.responses).map((response) => resolve(document, response));
    for (const media of [operation.requestBody, ...answers].flatMap((body) => Object.values(body?.content ?? {}))) {
      const [example] = Object.values(media.examples ?? {});
      media.schema = separate(media.schema, resolve(document, example)?.value);
      const events = media['x-event-schema'];
      if (events === undefined) continue;
      media['x-event-schema'] = separate(events, undefined);
      if (events['title'] === undefined) throw new Error(`${operation.operationId}: an x-event-schema needs a title`);
    }
  }
}

const unions = ['anyOf', 'oneOf', 'allOf'];
const members = ['items', 'additionalProperties'];

function isCompound(schema: Schema): boolean {
  const types = [schema['type']].flat();
  return types.includes('object') || types.includes('array') || unions.some((keyword) => keyword in schema);
}

function firstOf(list: unknown): unknown {
  return Array.isArray(list) ? (list as unknown[])[0] : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
