import type { Schema } from './contract-document.ts';
import type { AsyncApiDocument, EventDefinition } from './event-contract.ts';
import { renderTypes } from './types.ts';

/**
 * The JSON Schema of an event type for receivers: without references, and with its path as `$id`, because the service
 * does not know its public address. A reader resolves the path against the URL that the schema was read from (RFC 3986,
 * section 5.1.3).
 */
export function publishedSchema({ type, schema }: EventDefinition): Schema {
  const $schema = 'https://json-schema.org/draft/2020-12/schema';
  return { $schema, $id: `/schemas/events/${type}/v1.json`, ...schema };
}

/** Renders the types of the payloads, and the catalog of event types with description, schema and example. */
export async function renderEventTypes(
  document: AsyncApiDocument,
  events: readonly EventDefinition[],
): Promise<string> {
  const wrapped = {
    openapi: '3.1.0',
    info: { title: 'Events', version: document.info.version },
    paths: {},
    components: { schemas: document.components.schemas },
  };
  const types = await renderTypes(wrapped);
  const imports = events.map(
    ({ type, schemaName }) =>
      `import ${schemaVariable(schemaName)} from './event-schemas/${type}.json' with { type: 'json' };`,
  );
  const payloads = events.map(({ type, schemaName }) => `  readonly ${type}: components['schemas']['${schemaName}'];`);
  const entries = events.map(
    ({ type, schemaName, description, subscribable, example }) => `  ${type}: {
    description: ${JSON.stringify(description)},
    subscribable: ${String(subscribable)},
    schema: ${schemaVariable(schemaName)},
    example: ${JSON.stringify(example)},
  },`,
  );
  return `${imports.join('\n')}

${types}
/** The payload of each type of event. */
export interface EventPayloads {
${payloads.join('\n')}
}

export type EventType = keyof EventPayloads;

/** The body of a delivery. */
export type EventPayload = EventPayloads[EventType];

/** What \`GET /api/v1/event-types\` answers with, in its order. */
export const eventCatalog = {
${entries.join('\n')}
} as const satisfies {
  readonly [Type in EventType]: {
    readonly description: string;
    readonly subscribable: boolean;
    readonly schema: object;
    readonly example: EventPayloads[Type];
  };
};

export const eventTypes = [${events.map(({ type }) => JSON.stringify(type)).join(', ')}] as const satisfies readonly EventType[];
`;
}

/** The payloads by type, for the client, whose types already have their schemas. */
export function renderClientEvents(events: readonly EventDefinition[]): string {
  const payloads = events.map(
    ({ type, schemaName, description }) => `  /** ${description} */\n  readonly ${type}: Schemas['${schemaName}'];`,
  );
  return `import type { components } from './types.ts';

type Schemas = components['schemas'];

/** The payload of each type of event. */
export interface EventPayloads {
${payloads.join('\n')}
}
`;
}

function schemaVariable(schemaName: string): string {
  return `${schemaName.charAt(0).toLowerCase()}${schemaName.slice(1)}Schema`;
}
