import { bundle } from './contract.ts';
import type { OpenApiDocument, Schema } from './contract-document.ts';
import { separateTitledSchemas } from './titled-schemas.ts';

interface Reference {
  readonly $ref: string;
}

interface MessageExample {
  readonly name: string;
  readonly summary: string;
  readonly headers: Record<string, string>;
  readonly payload: Record<string, unknown>;
}

/** The parts of the bundled AsyncAPI 3 document that the generator reads. */
export interface AsyncApiDocument {
  readonly info: { readonly version: string };
  readonly channels: {
    readonly integration: {
      readonly messages: Record<
        string,
        {
          readonly name: string;
          readonly summary: string;
          readonly headers: Reference;
          readonly payload: Reference;
          readonly examples: readonly MessageExample[];
        }
      >;
    };
  };
  readonly components: { readonly schemas: Record<string, Schema>; readonly securitySchemes?: object };
}

/** A type of event, with the data that the generator needs. */
export interface EventDefinition {
  /** Such as `ORDER_PLACED`. */
  readonly type: string;
  /** Name of the payload's schema, such as `OrderPlaced`. */
  readonly schemaName: string;
  readonly description: string;
  readonly subscribable: boolean;
  /** The JSON Schema of the payload without references. */
  readonly schema: Schema;
  readonly example: Record<string, unknown>;
}

/** Bundles `asyncapi/asyncapi.yaml` with Redocly into one JSON document. Schemas with a title become components. */
export async function bundleEventContract(root: string): Promise<AsyncApiDocument> {
  const document = (await bundle(root, 'asyncapi/asyncapi.yaml')) as AsyncApiDocument;
  separateTitledSchemas(document);
  return document;
}

/**
 * The types of events in the order of the document.
 *
 * @throws Error if the two contracts contain different types
 */
export function listEvents(events: AsyncApiDocument, api: OpenApiDocument): EventDefinition[] {
  const subscribable = enumOf(api, 'SubscribableEventType');
  const messages = Object.values(events.channels.integration.messages);
  const unknown = subscribable.filter((type) => !messages.some(({ name }) => name === type));
  if (unknown.length > 0) throw new Error(`asyncapi/ has no message for ${unknown.join(', ')}`);
  return messages.map(({ name, summary, payload, examples }) => {
    const [example] = examples;
    if (example === undefined) throw new Error(`${name} has no example`);
    return {
      type: name,
      schemaName: payload.$ref.slice('#/components/schemas/'.length),
      description: summary,
      subscribable: subscribable.includes(name),
      schema: withoutReferences(payload, events.components.schemas) as Schema,
      example: example.payload,
    };
  });
}

function enumOf(document: OpenApiDocument, name: string): string[] {
  const schema = document.components.schemas[name] as { enum?: string[] } | undefined;
  if (schema?.enum === undefined) throw new Error(`components/schemas/${name} must be an enum`);
  return schema.enum;
}

/** A copy of a schema in which each `$ref` is replaced by its target. No schema that it is used for contains itself. */
export function withoutReferences(value: unknown, schemas: Record<string, Schema>): unknown {
  if (Array.isArray(value)) return value.map((member) => withoutReferences(member, schemas));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref } = value as Partial<Reference>;
  if ($ref !== undefined) return withoutReferences(schemas[$ref.slice('#/components/schemas/'.length)], schemas);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutReferences(member, schemas)]));
}
