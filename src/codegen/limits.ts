import { reservedHeaders } from '../webhooks/integrations/custom-headers.ts';
import { longestTestSettings } from '../prompts/test-settings.ts';
import { isOfOthers, listOperations, type OpenApiDocument, type Schema } from './contract-document.ts';
import { isObject } from '../base/runtime/objects.ts';

/**
 * Renders what the schemas of requests limit, for forms: `promptName.maxLength`, `toolsInput.items.name.pattern`. Each
 * component is a constant, so that a page has only those that it uses. The limits of an object are those of its
 * properties, of a list `items`, of a map `names` and `values`.
 */
export function renderLimits(document: OpenApiDocument): string {
  const { schemas } = document.components;
  const constants = new Map<string, string | undefined>();

  /** @returns the name of the constant of a component; `undefined` if it limits nothing */
  const refer = (component: string): string | undefined => {
    const name = component.charAt(0).toLowerCase() + component.slice(1);
    if (!constants.has(component)) {
      constants.set(component, undefined); // A component can contain itself.
      const value = render(schemas[component] ?? {});
      // A constant comes after those that it refers to.
      constants.delete(component);
      constants.set(component, value && `export const ${name} = ${value} as const;\n`);
    }
    return constants.get(component) === undefined ? undefined : name;
  };
  const render = (schema: Schema): string | undefined => {
    if (typeof schema['$ref'] === 'string') return refer(schema['$ref'].split('/').at(-1) ?? '');
    const members = membersOf(schema).flatMap(([name, value]) => {
      const rendered = typeof value === 'object' ? render(value) : JSON.stringify(value);
      return rendered === undefined ? [] : [[name, `${name}: ${rendered}`] as const];
    });
    // Of two alternatives of a union the first counts.
    const unique = new Map(members.toReversed());
    return unique.size === 0 ? undefined : `{ ${[...unique.values()].toReversed().join(', ')} }`;
  };

  for (const { operation, parameters } of listOperations(document)) {
    if (isOfOthers(operation)) continue;
    const bodies = Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema);
    for (const schema of [...bodies, ...parameters.map((parameter) => parameter.schema)]) render(schema);
  }
  return [...constants.values(), ...otherLimits].join('');
}

/** Limits that a schema cannot express. */
const otherLimits = [
  `export const reservedHeaders = { pattern: ${JSON.stringify(reservedHeaders.source)} } as const;\n`,
  `export const testSettings = { maxBytes: ${longestTestSettings} } as const;\n`,
];

const keywords = ['minimum', 'maximum', 'minLength', 'maxLength', 'maxItems', 'maxProperties', 'pattern'];

/** What a schema limits, and the schemas within it, by their name in the constant. */
function membersOf(schema: Schema): [string, Schema | string | number][] {
  const { properties = {}, items, propertyNames, additionalProperties, not, anyOf, oneOf, ...own } = schema;
  const within = { items, names: propertyNames, values: additionalProperties, ...(properties as object) };
  return [
    ...Object.entries(own as Record<string, string | number>).filter(([name]) => keywords.includes(name)),
    ...(isObject(not) && 'pattern' in not ? [['not', { pattern: not['pattern'] }] satisfies [string, Schema]] : []),
    ...Object.entries(within).filter((entry): entry is [string, Schema] => isObject(entry[1])),
    ...((anyOf ?? oneOf ?? []) as Schema[]).flatMap(membersOf),
  ];
}
