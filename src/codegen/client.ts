import { clientMethod, clientResource } from './client-names.ts';
import type { ProblemEntry } from './contract.ts';
import {
  isOfOthers,
  listOperations,
  resolve,
  type OpenApiDocument,
  type OperationEntry,
  type Parameter,
  type Schema,
} from './contract-document.ts';

/** A method of the client: an operation with the data that its signature and its calls need. */
interface ClientOperation {
  id: string;
  resource: string;
  name: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  pathParameters: { name: string; description: string; type: string }[];
  /** The argument after the path parameters. */
  input: 'body' | 'query' | undefined;
  inputRequired: boolean;
  /** Names of header parameters. */
  headers: string[];
  /** The operation answers with a page of a list. */
  isPage: boolean;
  isText: boolean;
  /** The method that reads the answer as a stream of events. */
  isStream: boolean;
  repeatable: boolean;
  /** It can be answered with a stream. So the service stops its work when the caller leaves, unless there is a key. */
  stops: boolean;
  /** Its body is JSON Lines. */
  takesLines: boolean;
  /** The component of the body. */
  bodyComponent: string | undefined;
  /** The components or types of the successful answers. */
  answers: string[];
  canBeNotModified: boolean;
  /** Short names of the problem types by status. */
  problems: Record<string, string[]>;
}

/** Methods whose types depend on stored prompts; `clients/typescript/src/stored-prompts.ts` has them. */
const typedByPrompt: Record<string, string> = {
  'prompts.invoke': 'InvokeMethod',
  'prompts.render': 'RenderMethod',
  'prompts.stream': 'StreamMethod',
  'testRuns.create': 'CreateTestRunMethod',
};

/** The generated files of the client by name, without their banner. */
export function renderClientFiles(
  document: OpenApiDocument,
  problems: Record<string, ProblemEntry>,
): Record<string, string> {
  const operations = listOperations(document)
    .filter(({ operation }) => !isOfOthers(operation))
    .flatMap((entry) => {
      const described = describe(document, entry);
      return described.stops ? [described, describeStream(described)] : [described];
    });
  return {
    'operations.ts': renderOperations(operations),
    'resources.ts': renderResources(document, operations),
    'problems.ts': renderProblems(operations, problems),
  };
}

function describe(document: OpenApiDocument, entry: OperationEntry): ClientOperation {
  const { path, method, operation, parameters } = entry;
  const { operationId: id, tags: [tag] = [], requestBody, responses } = operation;
  if (tag === undefined) throw new Error(`${id} has no tag`);
  const named = (place: Parameter['in']): Parameter[] => parameters.filter((parameter) => parameter.in === place);
  const query = named('query');
  if (requestBody !== undefined && query.length > 0) {
    throw new Error(`${id}: the client's methods take a body or a query, not both`);
  }
  const headers = named('header').map(({ name }) => name);
  const successes = Object.keys(responses)
    .filter((status) => status.startsWith('2'))
    .map((status) => ({ status, ...Object.entries(resolve(document, responses[status])?.content ?? {})[0] }));
  return {
    id,
    resource: clientResource(tag),
    name: clientMethod(tag, id),
    method: method.toUpperCase(),
    path,
    summary: operation.summary ?? '',
    description: operation.description ?? '',
    pathParameters: named('path').map(({ name, description = '', schema }) => ({
      name,
      description: description.replaceAll(/\s+/g, ' ').trim(),
      type: resolve(document, schema)['type'] === 'integer' ? 'number' : 'string',
    })),
    input: requestBody !== undefined ? 'body' : query.length > 0 ? 'query' : undefined,
    inputRequired: requestBody?.required === true || query.some(({ required }) => required === true),
    headers,
    isPage: query.some(({ name }) => name === 'offset'),
    isStream: false,
    isText: successes.every(({ 0: media }) => media === 'text/plain' || media === 'application/jsonl'),
    repeatable: method !== 'post' || operation['x-repeatable'] === true,
    stops: answersWithEvents(document, entry),
    takesLines: requestBody?.content['application/x-ndjson'] !== undefined,
    bodyComponent: component(requestBody?.content['application/json']?.schema),
    answers: successes.map(({ status, 0: media, 1: content }) => {
      const name = component(content?.schema);
      return name === undefined
        ? `operations['${id}']['responses'][${status}]['content']['${media ?? ''}']`
        : `Schemas['${name}']`;
    }),
    canBeNotModified: responses['304'] !== undefined,
    problems: Object.fromEntries(
      Object.entries(responses)
        .filter(([status]) => Number(status) >= 400)
        .map(([status, response]) => [status, resolve(document, response)['x-problem-types'] ?? []]),
    ),
  };
}

/** Whether the answer can be a stream of events. */
function answersWithEvents(document: OpenApiDocument, { operation }: OperationEntry): boolean {
  return Object.values(operation.responses).some((response) =>
    Object.values(resolve(document, response).content ?? {}).some((media) => media['x-event-schema'] !== undefined),
  );
}

/** The second method of an operation, which reads its answer as a stream. */
function describeStream(operation: ClientOperation): ClientOperation {
  const { name, resource, summary } = operation;
  return {
    ...operation,
    name: 'stream',
    isStream: true,
    summary: `${summary}, and read the answer while it is generated`,
    description: `The request is that of \`${resource}.${name}\`. It is sent when you begin to read.`,
  };
}

function component(schema: Schema | undefined): string | undefined {
  const reference = schema?.['$ref'];
  return typeof reference === 'string' ? reference.split('/').at(-1) : undefined;
}

function byResource(operations: readonly ClientOperation[]): [string, ClientOperation[]][] {
  return Object.entries(Object.groupBy(operations, ({ resource }) => resource)) as [string, ClientOperation[]][];
}

/**
 * The table of operations for the calls of the client. Pages load it, so it contains only values that differ from the
 * default.
 */
function renderOperations(operations: readonly ClientOperation[]): string {
  const row = (operation: ClientOperation): string => {
    const { method, path, input, takesLines, isPage, isText, isStream, headers, repeatable, stops } = operation;
    const members = [
      `method: '${method}'`,
      `path: '${path}'`,
      ...(input === undefined ? [] : [`input: '${input}'`]),
      ...(takesLines ? ['lines: true'] : []),
      ...(isPage ? ['page: true'] : []),
      ...(isText ? ['text: true'] : []),
      ...(isStream ? ['events: true'] : []),
      ...(headers.includes('Idempotency-Key') ? ['key: true'] : []),
      ...(method === 'POST' && repeatable ? ['repeatable: true'] : []),
      ...(stops ? ['stops: true'] : []),
    ];
    return `    ${operation.name}: { ${members.join(', ')} },\n`;
  };
  const resources = byResource(operations).map(
    ([resource, methods]) => `  ${resource}: {\n${methods.map(row).join('')}  },\n`,
  );
  const names = operations.map(({ resource, name }) => `  | '${resource}.${name}'`);
  return `/** How an operation is called. */
export interface OperationRow {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'PATCH';
  /** OpenAPI path template. */
  readonly path: string;
  /** The argument after the path parameters. */
  readonly input?: 'body' | 'query';
  /** The body is JSON Lines, as text. */
  readonly lines?: true;
  /** It answers with a page of a list. */
  readonly page?: true;
  /** It answers with text instead of JSON. */
  readonly text?: true;
  /** It is answered with a stream of events. */
  readonly events?: true;
  /** It takes an \`Idempotency-Key\`. */
  readonly key?: true;
  /** A POST that has no second effect when it is repeated. */
  readonly repeatable?: true;
  /** The service stops its work when the caller leaves, unless the call has an \`Idempotency-Key\`. */
  readonly stops?: true;
}

/** Every operation of the contract, by resource and method. */
export const operationTable: Readonly<Record<string, Readonly<Record<string, OperationRow>>>> = {
${resources.join('')}};

/** A method of the client, as it is called: \`prompts.invoke\`. */
export type OperationName =
${names.join('\n')};
`;
}

/** The resources with their methods, as an editor shows them. */
function renderResources(document: OpenApiDocument, operations: readonly ClientOperation[]): string {
  const resources = byResource(operations);
  const interfaces = resources.map(([resource, methods]) => {
    const text = tagDescription(document, resource);
    return `${comment(text, '')}export interface ${typeName(resource)} {\n${methods.map(signature).join('\n')}}\n`;
  });
  const members = resources.map(
    ([resource]) =>
      `${comment(tagDescription(document, resource), '  ')}  readonly ${resource}: ${typeName(resource)};\n`,
  );
  return `import type { Call, ListCall } from '../call.ts';
import type { CallOptions, Query } from '../call-options.ts';
import type { CreateTestRunMethod, InvokeMethod, RenderMethod, StreamMethod } from '../stored-prompts.ts';
import type { components, operations } from './types.ts';

/** The schemas of the contract by name, such as \`Schemas['Order']\`. */
export type Schemas = components['schemas'];

${interfaces.join('\n')}
/** The resources of the service, each with its methods. */
export interface Resources {
${members.join('')}}
`;
}

function typeName(resource: string): string {
  return `${resource.charAt(0).toUpperCase()}${resource.slice(1)}Resource`;
}

function tagDescription(document: OpenApiDocument, resource: string): string {
  return document.tags?.find(({ name }) => clientResource(name) === resource)?.description ?? '';
}

/** Statuses whose problems any call can get: they are not repeated for each method. */
const usual = ['default', '400', '401', '403', '406', '408', '413', '415', '429', '500', '503'];

function signature(operation: ClientOperation): string {
  const {
    id,
    resource,
    name,
    summary,
    description,
    pathParameters,
    input,
    inputRequired,
    takesLines,
    bodyComponent,
    answers,
  } = operation;
  const problems = Object.entries(operation.problems)
    .filter(([status]) => !usual.includes(status))
    .flatMap(([status, types]) => types.map((type) => `\`${type}\` (${status})`));
  const text = [
    `${summary}.`,
    description,
    [
      ...pathParameters.map((parameter) => `@param ${parameter.name} ${parameter.description}`),
      ...(problems.length === 0 ? [] : [`@throws {ProblemError} ${problems.join(', ')}`]),
    ].join('\n'),
  ];
  const docs = comment(text.filter((part) => part !== '').join('\n\n'), '  ');
  const special = typedByPrompt[`${resource}.${name}`];
  if (special !== undefined) return `${docs}  ${name}: ${special};\n`;
  const before = [
    ...pathParameters.map((parameter) => `${parameter.name}: ${parameter.type}`),
    ...(input === undefined
      ? []
      : [
          `${input}${inputRequired ? '' : '?'}: ${input === 'query' ? `Query<'${id}'>` : takesLines ? 'string' : `Schemas['${bodyComponent ?? ''}']`}`,
        ]),
  ];
  const answer = [...new Set(answers)].join(' | ');
  const declare = (options: string, data: string): string =>
    `  ${name}(${[...before, options].join(', ')}): ${operation.isPage ? 'ListCall' : 'Call'}<${data}>;\n`;
  if (!operation.canBeNotModified) return docs + declare(`options?: CallOptions<'${id}'>`, answer);
  // With `ifNoneMatch` the answer can be 304 without content.
  return `${docs}${declare(`options?: CallOptions<'${id}'> & { ifNoneMatch?: undefined }`, answer)}${docs}${declare(`options: CallOptions<'${id}'>`, `${answer} | undefined`)}`;
}

function comment(text: string, indentation: string): string {
  const lines = text.trim().replaceAll('*/', '*\\/').split('\n');
  return `${[`${indentation}/**`, ...lines.map((line) => `${indentation} * ${line}`.trimEnd()), `${indentation} */`].join('\n')}\n`;
}

/** The problem types by status, by operation and status, and those that leave nothing behind. */
function renderProblems(operations: readonly ClientOperation[], problems: Record<string, ProblemEntry>): string {
  const union = (types: readonly string[]): string => types.map((type) => `'${type}'`).join(' | ');
  const statuses = Object.groupBy(Object.keys(problems), (type) => String(problems[type]?.status));
  const byStatus = Object.entries(statuses).map(([status, types = []]) => `  ${status}: ${union(types)};\n`);
  const byOperation = operations.map((operation) => {
    const members = Object.entries(operation.problems)
      .filter(([status, types]) => status !== 'default' && types.length > 0)
      .map(([status, types]) => `${status}: ${union(types)}`);
    return `  '${operation.resource}.${operation.name}': { ${members.join('; ')} };\n`;
  });
  const harmless = Object.keys(problems).filter((type) => problems[type]?.changed_nothing === true);
  return `/** Names of the problem types that have this status. */
export interface ProblemNames {
${byStatus.join('')}}

/** Names of the problem types that an operation declares, by status. */
export interface OperationProblemNames {
${byOperation.join('')}}

/** Problem types after which nothing has happened: such a request can be repeated, whatever it is. */
export const changedNothing: readonly string[] = ${JSON.stringify(harmless)};
`;
}
