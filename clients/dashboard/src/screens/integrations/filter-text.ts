import type { Schemas } from 'prompt-gateway-client';

/** A filter as the form shows it. */
export function textOf(filter: object | undefined): string {
  return filter === undefined ? '' : JSON.stringify(filter, null, 2);
}

/** The filter that a text means, or why it means none. An empty text means all events. */
export function readFilter(
  text: string,
): { readonly filter: Schemas['EventFilterInput'] } | { readonly notJson: string } | { readonly notObject: true } {
  if (text.trim() === '') return { filter: {} };
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? { filter: value as Schemas['EventFilterInput'] } : { notObject: true };
  } catch (error) {
    return { notJson: error instanceof Error ? error.message : '' };
  }
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** The paths of the values that the payloads of all these schemas have. */
export function commonPaths(schemas: readonly object[]): string[] {
  const [first = [], ...others] = schemas.map((schema) => pathsIn(schema as Schema));
  return first.filter((path) => others.every((paths) => paths.includes(path)));
}

function pathsIn({ properties, items }: Schema): string[] {
  if (items !== undefined) return pathsIn(items);
  return Object.entries(properties ?? {}).flatMap(([name, schema]) => {
    const below = pathsIn(schema);
    return below.length === 0 ? [name] : below.map((path) => `${name}.${path}`);
  });
}
