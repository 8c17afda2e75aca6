import { listOperations, resolve, type MediaType, type Schema } from '../../src/codegen/contract-document.ts';
import { contract } from '../support/schema-arbitraries.ts';

/** An answer that a generated client reads. */
interface Answer {
  readonly operationId: string;
  readonly status: number;
  readonly body: unknown;
}

/**
 * The examples of all answers in JSON. @param later whether value lists have a value that the contract does not contain
 */
export function exampleAnswers(later: boolean): Answer[] {
  return listOperations(contract).flatMap(({ operation: { operationId, responses } }) =>
    Object.entries(responses).flatMap(([status, response]) =>
      Object.entries(resolve(contract, response).content ?? {})
        .filter(([type]) => type.endsWith('json'))
        .flatMap(([, media]) =>
          bodies(media).map((body) => ({
            operationId,
            // An undeclared answer, for `default`.
            status: status === 'default' ? 418 : Number(status),
            body: later ? withOtherValues(media.schema, body) : body,
          })),
        ),
    ),
  );
}

function bodies({ example, examples: named = {} }: MediaType): unknown[] {
  const values = Object.values(named).map((entry) => resolve(contract, entry).value);
  return example === undefined ? values : [example, ...values];
}

/** A copy of a value. Each value from an open value list is replaced by one that the list does not contain. */
function withOtherValues(reference: Schema | undefined, value: unknown): unknown {
  const schema = resolve(contract, reference) as Record<'anyOf' | 'oneOf' | 'allOf', Schema[] | undefined> & Schema;
  if (schema['x-extensible-enum'] !== undefined) return 'a-later-value';
  const { items } = schema as { items?: Schema };
  if (Array.isArray(value)) return items === undefined ? value : value.map((item) => withOtherValues(items, item));
  if (typeof value !== 'object' || value === null) return value;
  const parts = [schema, ...(schema.allOf ?? []), ...(schema.oneOf ?? []).filter((part) => isOf(part, value))];
  const properties = Object.assign(
    {},
    ...parts.map((part) => resolve(contract, part)['properties'] as object | undefined),
  ) as Record<string, Schema>;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      properties[name] === undefined ? member : withOtherValues(properties[name], member),
    ]),
  );
}

/** Whether a value belongs to this member of a union. */
function isOf(part: Schema, value: object): boolean {
  const properties = (resolve(contract, part)['properties'] ?? {}) as Record<string, { const?: unknown }>;
  return Object.entries(value).every(
    ([name, member]) => properties[name]?.const === undefined || properties[name].const === member,
  );
}
