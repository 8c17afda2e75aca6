import { jsonLines } from './generated-files.ts';
import type { ProblemEntry } from './contract.ts';
import {
  apisOf,
  isOfOthers,
  isOnlyNull,
  limits,
  listOperations,
  resolve,
  type Limit,
  type LimitWord,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  type Schema,
} from './contract-document.ts';

/** What a key with a limit may do; `finder` says what finds the resource that `name` of the request names. */
type RowLimit = Exclude<LimitWord, 'named'> | { finder: string; name: string };

/** The data of an operation that the server needs besides its validators. */
interface Row {
  method: string;
  path: string;
  apis?: string[];
  scope: string | null;
  needsKey: boolean;
  limited: Partial<Record<Limit, RowLimit>>;
  parameters: { name: string; in: string; type: string; required: boolean; names?: string[] }[];
  body: 'none' | 'optional' | 'required';
  bodyLimit: number;
  valueLimit?: number;
  nullsKeptIn?: string[];
  linesAs?: string;
  lineLimit?: number;
  /** Declared statuses and the media type of each, `null` without a body. */
  responses: Record<string, string | null>;
  /** Other media types of successful answers. */
  otherMedia: string[];
  isWholeWithoutLimit?: true;
  problems: string[];
}

/** Renders the operation table and the unions of operation ids and scopes. */
export function renderOperationTable(document: OpenApiDocument, problems: Record<string, ProblemEntry>): string {
  const rows: Record<string, Row> = {};
  for (const { path, method, operation, parameters } of listOperations(document)) {
    const responses: Row['responses'] = {};
    const types: string[] = [];
    const otherMedia: string[] = [];
    for (const [status, reference] of Object.entries(operation.responses)) {
      if (status === 'default') continue;
      const response = resolve(document, reference);
      const [first = null, ...others] = Object.keys(response.content ?? {});
      responses[status] = first;
      if (status < '300') otherMedia.push(...others);
      for (const type of response['x-problem-types'] ?? []) {
        const problem = problems[type];
        if (problem === undefined) throw new Error(`${operation.operationId} ${status}: unknown problem type ${type}`);
        // The APIs of others have other statuses for what providers refuse.
        const isFree = isOfOthers(operation) && type.startsWith('provider-');
        if (String(problem.status) !== status && !isFree) {
          throw new Error(`${operation.operationId} ${status}: ${type} has status ${problem.status}`);
        }
        if (!types.includes(type)) types.push(type);
      }
    }
    rows[operation.operationId] = {
      method: method.toUpperCase(),
      path,
      ...(isOfOthers(operation) && { apis: apisOf(operation) }),
      scope: operation.security?.[0]?.['bearerAuth']?.[0] ?? null,
      needsKey: operation.security?.[0] !== undefined,
      limited: limitedOf(document, path, operation),
      parameters: parameters.map((parameter) => ({
        name: parameter.name,
        in: parameter.in,
        type: String(resolve(document, parameter.schema)['type']),
        required: parameter.required ?? false,
        ...(parameter['x-names'] !== undefined && { names: parameter['x-names'] }),
      })),
      body:
        operation.requestBody === undefined
          ? 'none'
          : operation.requestBody.required === true
            ? 'required'
            : 'optional',
      bodyLimit: bodyLimitOf(operation),
      ...(operation['x-value-limit'] !== undefined && { valueLimit: operation['x-value-limit'] }),
      ...(operation['x-nulls'] !== undefined && { nullsKeptIn: freeMembers(document, operation) }),
      ...(operation['x-json-lines'] !== undefined && { linesAs: operation['x-json-lines'] }),
      ...(operation['x-line-limit'] !== undefined && { lineLimit: operation['x-line-limit'] }),
      responses,
      otherMedia,
      ...(isWholeWithoutLimit(document, operation, parameters) && { isWholeWithoutLimit: true }),
      problems: types,
    };
  }
  const finders = new Set(
    Object.values(rows).flatMap(({ limited }) =>
      Object.values(limited).flatMap((rule) => (typeof rule === 'object' && 'finder' in rule ? [rule.finder] : [])),
    ),
  );
  return `/** One row of the operation table. */
export interface OperationRow {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'PATCH';
  /** OpenAPI path template. */
  readonly path: string;
  /** The APIs of others that it belongs to; absent for the service's own. */
  readonly apis?: readonly ('openai' | 'anthropic' | 'mcp')[];
  /** The scope that a key needs; \`null\` where any key will do, or none is needed. */
  readonly scope: string | null;
  readonly needsKey: boolean;
  /** What a key that is limited to some prompts, locations or models may do; empty where no key is needed. */
  readonly limited: Readonly<Partial<Record<Limit, LimitRule>>>;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: 'path' | 'query' | 'header';
    readonly type: 'string' | 'integer' | 'number' | 'boolean';
    readonly required: boolean;
    /** It is a list of names, separated by commas, and can have these. */
    readonly names?: readonly string[];
  }[];
  readonly body: 'none' | 'optional' | 'required';
  /** The most bytes of a body; 0 if the operation takes none. */
  readonly bodyLimit: number;
  /** The most members and elements of a body, if they are not as many as of others. */
  readonly valueLimit?: number;
  /** Members of the body that are \`null\` count as left out, except inside of members with these names. */
  readonly nullsKeptIn?: readonly string[];
  /** The member of the body whose elements an export writes as JSON Lines. */
  readonly linesAs?: string;
  /** The body is JSON Lines, of at most so many bytes each. */
  readonly lineLimit?: number;
  /** Declared statuses and the (first) media type of each; \`null\` without a body. */
  readonly responses: Readonly<Record<string, string | null>>;
  /** Media types of successful answers besides these. */
  readonly otherMedia: readonly string[];
  /** Its parameter \`limit\` has no default: without it, the answer is the whole list. */
  readonly isWholeWithoutLimit?: true;
  /** Problem types that the operation declares. */
  readonly problems: readonly string[];
}

export const operationTable = ${jsonLines(rows, 1).trimEnd()} as const satisfies Record<string, OperationRow>;

export type OperationId = keyof typeof operationTable;

/** What a key can be limited to some of. */
export type Limit = ${limits.map((limit) => `'${limit}'`).join(' | ')};

/** Finds what a request names, within the limits of its key. */
export type Finder = ${[...finders]
    .toSorted()
    .map((finder) => `'${finder}'`)
    .join(' | ')};

/** What a limit means for an operation. */
export type LimitRule =
  /** Nothing: it does not concern the operation. */
  | 'unaffected'
  /** Its handler keeps to the limit. */
  | 'kept'
  /** What the request names must be within the limit: a parameter of the path, or the member \`location_id\` of the body. */
  | { readonly finder: Finder; readonly name: 'slugOrId' | 'id' | 'location_id' }
  /** Such a key cannot do this, as the end of a sentence; \`unless\` it has the other limit, too. */
  | { readonly cannot: string; readonly unless?: 'locations' };

/** What an API key may be allowed to do. */
export type Scope = ${scopes(document)
    .map((scope) => `'${scope}'`)
    .join(' | ')};
`;
}

/** @throws Error if a list has no default limit and does not say that it is whole without one, or the reverse */
function isWholeWithoutLimit(
  document: OpenApiDocument,
  { operationId, 'x-whole-without-limit': isWhole = false }: Operation,
  parameters: readonly Parameter[],
): boolean {
  const limit = parameters.find((parameter) => parameter.in === 'query' && parameter.name === 'limit');
  const hasDefault = limit === undefined || resolve(document, limit.schema)['default'] !== undefined;
  if (isWhole === hasDefault) {
    throw new Error(`${operationId}: limit needs a default, or the operation x-whole-without-limit`);
  }
  return isWhole;
}

/** @throws Error if an operation does not say what each kind of limited key may do with it */
function limitedOf(document: OpenApiDocument, path: string, operation: Operation): Row['limited'] {
  const { operationId, security, 'x-limited': words = {} } = operation;
  if (security?.[0] === undefined) return {};
  const rules = limits.map((limit): [Limit, RowLimit] => {
    const word = words[limit];
    if (word === undefined) throw new Error(`${operationId}: x-limited does not say what keys of some ${limit} may do`);
    const isKnown = typeof word === 'object' ? typeof word.cannot === 'string' : knownWords.includes(word);
    if (!isKnown) throw new Error(`${operationId}: x-limited has an unknown word for ${limit}`);
    return [limit, word === 'named' ? namedBy(document, path, operation) : word];
  });
  return Object.fromEntries(rules);
}

const knownWords: readonly string[] = ['unaffected', 'kept', 'named'];

/** What a request names: `/v1/orders/{id}` an order, and a body without such a path its `location_id`. */
function namedBy(document: OpenApiDocument, path: string, { operationId, requestBody }: Operation): RowLimit {
  const [, finder, name] = /([\w-]+)\/\{(slugOrId|id)\}/.exec(path) ?? [];
  if (finder !== undefined && name !== undefined) return { finder, name };
  const schema: Schema = resolve(document, requestBody?.content['application/json']?.schema ?? {});
  if (Object.hasOwn((schema['properties'] as object | undefined) ?? {}, 'location_id')) {
    return { finder: 'location_id', name: 'location_id' };
  }
  throw new Error(`${operationId}: x-limited says that the request names something, and it does not`);
}

/**
 * The names of the members of a body, at any depth, whose values have members of the caller's choice.
 *
 * @throws Error if a name belongs to such a member in one place, and to an object of the contract in another
 */
function freeMembers(document: OpenApiDocument, { operationId, requestBody }: Operation): string[] {
  const free = new Set<string>();
  const closed = new Set<string>();
  const look = (reference: Schema, name: string): void => {
    const schema = resolve(document, reference);
    const { items, anyOf, oneOf = anyOf, properties = {} } = schema;
    if (oneOf !== undefined) for (const form of oneOf as Schema[]) look(form, name);
    else if (items !== undefined) look(items as Schema, name);
    else if (schema['additionalProperties'] === false) {
      closed.add(name);
      for (const [member, value] of Object.entries(properties as Record<string, Schema>)) look(value, member);
    } else if (schema['type'] === undefined ? !isOnlyNull(schema) : [schema['type']].flat().includes('object')) {
      free.add(name);
    }
  };
  look(requestBody?.content['application/json']?.schema ?? {}, '');
  const both = [...free].filter((name) => closed.has(name));
  if (both.length > 0) throw new Error(`${operationId}: x-nulls needs other names for ${both.join(', ')}`);
  return [...free].toSorted();
}

/** Bodies from callers without a key are small, so that they need no memory that is shared by all. */
function bodyLimitOf({ requestBody, security, 'x-body-limit': own }: Operation): number {
  if (requestBody === undefined) return 0;
  if (security?.[0] === undefined) return 16 * 1024;
  return own ?? 1024 * 1024;
}

function scopes(document: OpenApiDocument): string[] {
  const schema = document.components.schemas['Scope'] as { enum?: string[] } | undefined;
  if (schema?.enum === undefined) throw new Error('components/schemas/Scope must be an enum of scopes');
  return schema.enum;
}
