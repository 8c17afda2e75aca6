import type { ProblemEntry } from './contract.ts';
import {
  apisOf,
  isOfOthers,
  listOperations,
  resolve,
  type OpenApiDocument,
  type Operation,
} from './contract-document.ts';

/** The data of an operation that the server needs besides its validators. */
interface Row {
  method: string;
  path: string;
  apis?: string[];
  scope: string | null;
  needsKey: boolean;
  parameters: { name: string; in: string; type: string; required: boolean; names?: string[] }[];
  body: 'none' | 'optional' | 'required';
  bodyLimit: number;
  valueLimit?: number;
  linesAs?: string;
  lineLimit?: number;
  /** Declared statuses and the media type of each, `null` without a body. */
  responses: Record<string, string | null>;
  /** Other media types of successful answers. */
  otherMedia: string[];
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
      ...(operation['x-json-lines'] !== undefined && { linesAs: operation['x-json-lines'] }),
      ...(operation['x-line-limit'] !== undefined && { lineLimit: operation['x-line-limit'] }),
      responses,
      otherMedia,
      problems: types,
    };
  }
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
  /** The member of the body whose elements an export writes as JSON Lines. */
  readonly linesAs?: string;
  /** The body is JSON Lines, of at most so many bytes each. */
  readonly lineLimit?: number;
  /** Declared statuses and the (first) media type of each; \`null\` without a body. */
  readonly responses: Readonly<Record<string, string | null>>;
  /** Media types of successful answers besides these. */
  readonly otherMedia: readonly string[];
  /** Problem types that the operation declares. */
  readonly problems: readonly string[];
}

export const operationTable = ${JSON.stringify(rows, null, 2)} as const satisfies Record<string, OperationRow>;

export type OperationId = keyof typeof operationTable;

/** What an API key may be allowed to do. */
export type Scope = ${scopes(document)
    .map((scope) => `'${scope}'`)
    .join(' | ')};
`;
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
