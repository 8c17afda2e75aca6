import document from '../../generated/openapi.json' with { type: 'json' };
import { nearestName } from '../base/fields/similar-names.ts';
import type { OperationId } from '../../generated/operations.ts';

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly [keyword: string]: unknown;
}

/** Keywords with schemas for the same value. */
const inPlace = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'not'] as const;

const schemas = document.components.schemas as unknown as Readonly<Record<string, Schema>>;

/** Adds a question to the detail of an error. */
export function didYouMean(detail: string, meant: string | undefined): string {
  return meant === undefined ? detail : `${detail}; did you mean ${meant}?`;
}

/**
 * The member of a request body that is meant by an unknown one: the most similar member of the same object, else of an
 * object inside it (`parameters.temperature`) or around it.
 *
 * @param path names and positions that lead from the body to the object
 * @returns words that continue "did you mean"
 */
export function meantMember(operationId: OperationId, path: readonly string[], name: string): string | undefined {
  const levels = [bodyOf(operationId)];
  for (const step of path) levels.push(levels.at(-1)?.flatMap((schema) => partsOf(schema, step)) ?? []);
  const here = levels.at(-1) ?? [];
  const same = nearestName(name, namesOf(here));
  if (same !== undefined) return same;

  const inside = namesOf(here).flatMap((outer) =>
    namesOf(here.flatMap((schema) => partsOf(schema, outer))).map((inner) => ({ outer, inner })),
  );
  const innermost = nearestName(
    name,
    inside.map(({ inner }) => inner),
  );
  const found = inside.find(({ inner }) => inner === innermost);
  if (found !== undefined) return `${found.outer}.${found.inner}`;

  const around = levels.slice(0, -1).findLast((level) => namesOf(level).includes(name));
  return around === undefined ? undefined : `${name} outside of ${path[levels.indexOf(around)] ?? ''}`;
}

function bodyOf(operationId: OperationId): Schema[] {
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item) as { operationId?: string; requestBody?: object }[]) {
      if (operation.operationId !== operationId) continue;
      const { content = {} } = (operation.requestBody ?? {}) as {
        content?: Partial<Record<string, { schema?: Schema; 'x-line-schema'?: Schema }>>;
      };
      const schema = content['application/x-ndjson']?.['x-line-schema'] ?? content['application/json']?.schema;
      return schema === undefined ? [] : [schema];
    }
  }
  return [];
}

/** The schemas that can apply to the same value as this one. */
function formsOf(schema: Schema, seen = new Set<Schema>()): Set<Schema> {
  if (seen.has(schema)) return seen;
  seen.add(schema);
  const target = schemas[schema.$ref?.split('/').at(-1) ?? ''];
  const others = inPlace.flatMap((keyword): Schema[] => [schema[keyword] ?? []].flat() as Schema[]);
  for (const other of target === undefined ? others : [target, ...others]) formsOf(other, seen);
  return seen;
}

function namesOf(level: readonly Schema[]): string[] {
  const names = level
    .flatMap((schema) => [...formsOf(schema)])
    .flatMap(({ properties = {} }) => Object.keys(properties));
  return [...new Set(names)];
}

/** The schemas of a member or an element. */
function partsOf(schema: Schema, step: string): Schema[] {
  return [...formsOf(schema)].flatMap(({ properties, additionalProperties, items }) => {
    const member = properties?.[step];
    const others = typeof additionalProperties === 'object' ? [additionalProperties] : [];
    if (member !== undefined) return [member];
    return items !== undefined && /^\d+$/.test(step) ? [items] : others;
  });
}
