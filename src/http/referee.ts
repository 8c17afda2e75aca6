import { IncomingMessage, ServerResponse, type IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import OpenApiValidator from 'express-openapi-validator';
import { dateTimePattern } from './contract-words.ts';
import type { RawAnswer } from './problem-response.ts';

/** The referee's input: copies of a request and of its answer. */
export interface RefereeExchange {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  readonly answer: Pick<RawAnswer, 'status' | 'headers' | 'body'>;
}

/** The referee's result for an exchange. */
export interface SecondOpinion {
  /** Whether the request follows the contract. */
  readonly request: Opinion;
  /**
   * Whether the answer follows the contract. `undefined` for answers that the referee cannot check: 5xx, empty answers
   * and media types other than JSON.
   */
  readonly answer: Opinion | undefined;
}

export type Opinion = { readonly accepted: true } | { readonly accepted: false; readonly reason: string };

/** A second, independent implementation of the contract's rules. */
export interface Referee {
  judge(exchange: RefereeExchange): Promise<SecondOpinion>;
}

/** The parts of a bundled contract that the referee reads. */
export interface Contract {
  readonly paths: Readonly<Record<string, unknown>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface ValidatorOptions {
  readonly validateRequests: boolean;
  readonly validateResponses: boolean;
}

type Outcome = { error: unknown };
interface Slot {
  exchange: RefereeExchange;
  decide: (outcome: Outcome | undefined) => void;
}

/**
 * Runs express-openapi-validator with the same contract, in separate applications that get copies, because it adds
 * defaults and converts values in place. It judges and does not serve: it uses several times the CPU of everything else
 * together.
 * @param document the bundled contract
 */
export function createReferee(document: Contract): Referee {
  const requests = requestJudge(document);
  const answers = answerJudge(document);
  return {
    async judge(exchange) {
      const { status, headers, body } = exchange.answer;
      const visible =
        status < 500 && body !== '' && /^application\/(problem\+)?json\b/.test(headers['content-type'] ?? '');
      return {
        request: await ask(requests, exchange),
        // The validator would compile its schemas of answers again for each media type of requests.
        answer: visible ? await ask(answers, { ...exchange, headers: withoutMediaType(exchange.headers) }) : undefined,
      };
    },
  };
}

const slots = new WeakMap<IncomingMessage, Slot>();

/** Judges requests. The validator gets the contract without answers, because it works through all of them first. */
function requestJudge(document: Contract): Express {
  const paths = mapOperations(document, ({ requestBody, ...operation }) => ({
    ...operation,
    // The validator reads no JSON Lines.
    ...(requestBody?.content['application/json'] !== undefined && { requestBody }),
    responses: { default: { description: '' } },
  }));
  return createValidator(contractOf(paths, document), { validateRequests: true, validateResponses: false });
}

/**
 * Judges answers. The validator gets each different answer as the only one of a path: it compiles all answers of an
 * operation when it sees one of them. Operations declare about 900 answers, but only about 120 differ.
 */
function answerJudge(document: Contract): Express {
  /** The names of paths, by the schemas of an answer. */
  const names = new Map<string, string>();
  /** The names of paths, by method, path and status in the contract. */
  const declared = new Map<string, string>();
  mapOperations(document, (operation, method, path) => {
    for (const [status, reference] of Object.entries(operation.responses)) {
      const schemas = JSON.stringify(schemasOf(dereference(reference, document)));
      const name = names.get(schemas) ?? `/${names.size}`;
      names.set(schemas, name);
      declared.set(`${method} ${path} ${status}`, name);
    }
    return operation;
  });
  const paths = [...names].map(([schemas, name]): [string, unknown] => [
    name,
    { get: { responses: { default: { description: '', content: JSON.parse(schemas) as unknown } } } },
  ]);
  const contract = contractOf(Object.fromEntries(paths), document);
  const validator = createValidator(contract, { validateRequests: false, validateResponses: true });
  const app = express().disable('etag');
  const byParameters = Object.keys(document.paths).sort((one, other) => parametersIn(one) - parametersIn(other));
  for (const path of byParameters) {
    app.all(path.replaceAll(/\{(\w+)\}/g, ':$1'), (request, response) => {
      const slot = slots.get(request);
      const status = slot?.exchange.answer.status ?? 0;
      const operation = `${request.method.toLowerCase()} ${path}`;
      const url = declared.get(`${operation} ${status}`) ?? declared.get(`${operation} default`);
      if (url === undefined) slot?.decide({ error: new Error(`${operation} has no answer with the status ${status}`) });
      else validator(Object.assign(request, { method: 'GET', url, originalUrl: url }), response);
    });
  }
  app.use((request: Request) => slots.get(request)?.decide({ error: new Error('The path is not in the contract') }));
  app.use(refuse);
  return app;
}

function refuse(error: unknown, request: Request, _response: Response, _next: NextFunction): void {
  slots.get(request)?.decide({ error });
}

function parametersIn(path: string): number {
  return path.split('{').length;
}

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

/** A copy of the paths of a contract, with changed operations. */
function mapOperations(
  { paths }: Contract,
  change: (operation: Operation, method: string, path: string) => Operation,
): Contract['paths'] {
  const isOperation = (value: unknown): value is Operation =>
    typeof value === 'object' && value !== null && 'responses' in value;
  return mapMembers(paths, (item, path) =>
    mapMembers(item as object, (member, name) => (isOperation(member) ? change(member, name, path) : member)),
  );
}

function mapMembers(value: object, change: (member: unknown, name: string) => unknown): Record<string, unknown> {
  const entries = Object.entries(value).map(([name, member]: [string, unknown]) => [name, change(member, name)]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function dereference(value: unknown, document: Contract): unknown {
  const { $ref } = value as { $ref?: string };
  const [, kind = '', name = ''] = $ref === undefined ? [] : ($ref.match(/^#\/components\/(\w+)\/([^/]+)$/) ?? []);
  return $ref === undefined ? value : document.components[kind]?.[name];
}

/** What an answer contains: the schemas by media type, without examples. */
function schemasOf(answer: unknown): unknown {
  const { content = {} } = answer as { content?: Record<string, { schema?: unknown }> };
  return Object.fromEntries(Object.entries(content).map(([type, { schema }]) => [type, { schema }]));
}

/** A contract with these paths and the components that they refer to. */
function contractOf(paths: Contract['paths'], document: Contract): Contract {
  const components: Record<string, Record<string, unknown>> = {};
  const addComponents = (value: unknown): void => {
    const [, kind, name] = typeof value === 'string' ? (/^#\/components\/(\w+)\/([^/]+)$/.exec(value) ?? []) : [];
    if (kind !== undefined && name !== undefined) {
      const component = document.components[kind]?.[name];
      const known = (components[kind] ??= {});
      if (known[name] !== undefined) return;
      known[name] = component;
      addComponents(component);
    } else if (typeof value === 'object' && value !== null) {
      for (const member of Object.values(value)) addComponents(member);
    }
  };
  addComponents(paths);
  return { ...document, paths, components };
}

function createValidator(document: Contract, options: ValidatorOptions): Express {
  const app = express().enable('case sensitive routing').enable('strict routing').disable('etag');
  app.use(
    OpenApiValidator.middleware({
      apiSpec: adapted(document) as never,
      validateApiSpec: false,
      validateSecurity: false,
      validateFormats: true,
      ajvFormats: { mode: 'full' },
      ...options,
    }),
  );
  app.use((request: Request, response: Response) => {
    const slot = slots.get(request);
    const answer = slot?.exchange.answer;
    if (options.validateResponses && answer !== undefined) {
      response.status(answer.status).setHeader('content-type', answer.headers['content-type'] ?? '');
      response.json(JSON.parse(answer.body));
    }
    slot?.decide(undefined);
  });
  app.use(refuse);
  return app;
}

async function ask(app: Express, exchange: RefereeExchange): Promise<Opinion> {
  const request = new IncomingMessage(new Socket());
  const contentType = exchange.headers['content-type'];
  Object.assign(request, {
    method: exchange.method,
    url: exchange.url,
    headers: {
      ...exchange.headers,
      ...(contentType === undefined ? {} : { 'content-type': plainMediaType(contentType) }),
    },
    body: structuredClone(exchange.body),
  });
  const outcome = await new Promise<Outcome | undefined>((decide) => {
    slots.set(request, { exchange, decide });
    app(request as Request, new ServerResponse(request) as Response);
  });
  return outcome === undefined ? { accepted: true } : { accepted: false, reason: reasonOf(outcome.error) };
}

function withoutMediaType({ 'content-type': _, ...headers }: IncomingHttpHeaders): IncomingHttpHeaders {
  return headers;
}

/** The validator keeps a compiled copy for every media type that it has seen, so it is given only two. */
function plainMediaType(contentType: string): string {
  const essence = contentType.split(';', 1)[0]?.trim().toLowerCase();
  return essence === 'application/json' ? essence : 'application/octet-stream';
}

function reasonOf(error: unknown): string {
  const { status, message, errors } = error as { status?: number; message?: string; errors?: unknown };
  return `${status ?? ''} ${message ?? String(error)} ${JSON.stringify(errors ?? '')}`.trim().slice(0, 2_000);
}

/**
 * The contract as the validator needs it. RFC 3986 allows reserved characters in query values: that is a setting of each
 * parameter. Its check of a `date-time` allows more than RFC 3339.
 */
function adapted(document: object): object {
  return JSON.parse(JSON.stringify(document), (_key, value: unknown) => {
    if (isQueryParameter(value)) return { ...value, allowReserved: true };
    return isDateTime(value) ? { ...value, pattern: dateTimePattern } : value;
  }) as object;
}

function isDateTime(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'format' in value && value.format === 'date-time';
}

function isQueryParameter(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'in' in value && value.in === 'query' && 'schema' in value;
}
