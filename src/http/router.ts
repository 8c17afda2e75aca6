import express, { type Express, type RequestHandler, type Request, type Response } from 'express';
import type { ValidateFunction } from 'ajv';
import * as validators from '../../dist/validators/requests.js';
import { operationTable, type OperationId, type OperationRow } from '../../generated/operations.ts';
import { ProblemError } from '../base/errors/problem-error.ts';
import type { OperationHandler, OperationHandlers, OperationRoute } from './operation.ts';
import { sendAnswer } from './answer.ts';
import { createOperationHandler, type PipelineDependencies, type SharedPipeline } from './pipeline.ts';
import { apiOf, problemAnswer, type ApiOfOthers, type RawAnswer } from './problem-response.ts';
import { requestIdOf } from './request-context.ts';
import { readRest } from './unread-body.ts';

type Methods = Map<string, RequestHandler>;

/**
 * Mounts every operation of the contract on an Express application; unknown paths and methods are problem answers.
 * @param before middleware that gets every request first
 * @param pages by path, outside the contract
 * @param forms handlers of posted forms, by path, outside the contract
 */
export function createRouter(
  handlers: OperationHandlers,
  dependencies: PipelineDependencies,
  before: readonly RequestHandler[] = [],
  pages: Readonly<Record<string, RequestHandler>> = {},
  forms: Readonly<Record<string, RequestHandler>> = {},
): Express {
  const application = express();
  application.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing');
  application.set('query parser', false);
  for (const middleware of before) application.use(middleware);
  const operations = routes(handlers, dependencies);
  const mount = (path: string): void => {
    const methods = operations.get(path);
    if (methods !== undefined) application.all(path, dispatch(methods, dependencies));
    operations.delete(path);
  };
  for (const operationId of busiest) mount(toRoute(operationTable[operationId].path));
  application.use(encodeModelName);
  for (const [path, made] of Object.entries(pages)) {
    const page: RequestHandler = async (request, response, next) => {
      await readRest(request);
      await made(request, response, next);
    };
    // A page at the path of an operation passes on requests for the operation.
    if (operations.has(path)) application.get(path, page);
    else application.all(path, dispatch(new Map(['GET', 'HEAD'].map((method) => [method, page])), dependencies));
  }
  for (const [path, form] of Object.entries(forms)) {
    application.all(path, dispatch(new Map([['POST', form]]), dependencies));
  }
  for (const path of operations.keys()) mount(path);
  application.use((request: Request, response: Response) => {
    const problem = isDelivery(request)
      ? webhookLoop()
      : new ProblemError('route-not-found', { detail: missingPath(request) });
    return refuse(request, response, dependencies, problem);
  });
  // Express itself only fails on paths with invalid percent-encoding. It recognises error handlers by their four
  // arguments.
  application.use((error: unknown, request: Request, response: Response, _next: unknown) => {
    const malformed = error instanceof URIError || (error as { status?: unknown }).status === 400;
    const problem = malformed
      ? new ProblemError('bad-request', { detail: 'The path is not validly percent-encoded.' })
      : error;
    return refuse(request, response, dependencies, problem);
  });
  return application;
}

/** The paths of the APIs of others without parameters. */
const compatiblePaths: ReadonlySet<string> = new Set(
  Object.values<OperationRow>(operationTable).flatMap(({ path, apis }) => (apis === undefined ? [] : [path])),
);

/** Says why a path is unknown. Clients differ in whether their base URL ends with `/v1`. */
function missingPath({ path, headers }: Request): string {
  const isTwice = path.startsWith('/v1/v1/');
  const meant = isTwice ? path.slice('/v1'.length) : `/v1${path}`;
  if (compatiblePaths.has(meant)) {
    const rule = isTwice ? 'without /v1 at its end' : 'with /v1 at its end';
    return `This service does not have this path, but ${meant}. Set the base URL of your client ${rule}.`;
  }
  const api = apiOf(path, headers);
  return api === undefined ? 'No operation has this path.' : `This service does not have this path. ${pathsOf[api]}`;
}

/** What there is instead. */
const pathsOf: Readonly<Record<ApiOfOthers, string>> = {
  openai: "Of OpenAI's API it has /v1/chat/completions, /v1/responses, /v1/embeddings and /v1/models.",
  anthropic: "Of Anthropic's API it has /v1/messages, /v1/messages/count_tokens and /v1/models.",
  mcp: 'MCP has only /mcp.',
};

/** Express tries one route after the other, so the operations that are called most come first. */
const busiest: readonly OperationId[] = [
  'invokePrompt',
  'createChatCompletion',
  'createResponse',
  'createMessage',
  'createOrder',
];

const modelPath = '/v1/models/';

/** Names of models have slashes, and not every SDK encodes them. */
function encodeModelName(request: Request, _response: Response, next: () => void): void {
  if (request.url.startsWith(modelPath)) {
    const [name = '', ...query] = request.url.slice(modelPath.length).split('?');
    request.url = [modelPath + name.replaceAll(/(?<=[^/])\/(?=[^/])/g, '%2F'), ...query].join('?');
    request.originalUrl = request.url;
  }
  next();
}

function routes(handlers: OperationHandlers, dependencies: PipelineDependencies): Map<string, Methods> {
  const byPath = new Map<string, Methods>();
  const known = new Map<OperationId, OperationRoute>();
  const shared: SharedPipeline = { ...dependencies, routes: known };
  for (const [operationId, row] of Object.entries(operationTable) as [OperationId, OperationRow][]) {
    const path = toRoute(row.path);
    const methods = byPath.get(path) ?? new Map<string, RequestHandler>();
    byPath.set(path, methods);
    const route: OperationRoute = {
      operationId,
      row,
      // The types of the entries differ; the table pairs every handler with its own validators.
      handler: handlers[operationId] as OperationHandler<OperationId>,
      ...validatorsOf(operationId),
    };
    known.set(operationId, route);
    const handler = createOperationHandler(route, shared);
    methods.set(row.method, handler);
    if (row.method === 'GET') methods.set('HEAD', handler);
  }
  return byPath;
}

/** A path of the contract in the syntax of Express. */
function toRoute(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

const all: Record<string, ValidateFunction> = { ...validators };

function validatorsOf(operationId: OperationId): {
  parameters: ValidateFunction;
  body: ValidateFunction | undefined;
  thorough: () => Promise<Record<string, ValidateFunction>>;
} {
  const parameters = all[`${operationId}Parameters`];
  if (parameters === undefined) throw new Error(`no generated validator for ${operationId}`);
  return {
    parameters,
    body: all[`${operationId}Body`],
    thorough: async () => ({ ...(await import('../../dist/validators/requests-thorough.js')) }),
  };
}

function dispatch(methods: Methods, dependencies: PipelineDependencies): RequestHandler {
  const allow = [...methods.keys(), 'OPTIONS'].join(', ');
  return (request, response, next) => {
    const handler = methods.get(request.method);
    if (isDelivery(request)) return refuse(request, response, dependencies, webhookLoop());
    if (handler !== undefined) return handler(request, response, next);
    if (request.method === 'OPTIONS') {
      return answer(request, response, dependencies, () => ({ status: 204, headers: { allow }, body: '' }));
    }
    const detail = `This path does not accept ${request.method}; it accepts ${allow}.`;
    const problem = new ProblemError('method-not-allowed', { detail, headers: { allow } });
    return refuse(request, response, dependencies, problem);
  };
}

/** Whether this is a webhook delivery of this or another prompt gateway. No integration can set these fields itself. */
function isDelivery({ headers }: Request): boolean {
  return (
    headers['x-service-application-id'] !== undefined ||
    headers['x-service-event-type'] !== undefined ||
    headers['user-agent']?.startsWith('Service-WebhookAgent/') === true
  );
}

/** A delivery to the API could cause another event, and so on in an endless loop. */
function webhookLoop(): ProblemError {
  return new ProblemError('webhook-loop', {
    detail: 'This is a webhook delivery. Change the URL of the integration to your own receiver.',
  });
}

async function refuse(
  request: Request,
  response: Response,
  dependencies: PipelineDependencies,
  error: unknown,
): Promise<void> {
  const make = (requestId: string): RawAnswer => problemAnswer(error, request.path, requestId, request.headers);
  const isExpected = error instanceof ProblemError;
  await answer(request, response, dependencies, make, isExpected ? { problem: error } : { error });
}

/** Answers requests that reach no operation. */
async function answer(
  request: Request,
  response: Response,
  dependencies: PipelineDependencies,
  make: (requestId: string) => RawAnswer,
  { problem, error }: { problem?: ProblemError; error?: unknown } = {},
): Promise<void> {
  const requestId = requestIdOf(request);
  // A closed connection has no address any more.
  const address = request.ip;
  await readRest(request);
  dependencies.onExchange({
    operationId: undefined,
    requestId,
    method: request.method,
    url: request.originalUrl,
    address,
    requestHeaders: request.headers,
    requestBody: undefined,
    answer: sendAnswer(response, make(requestId), requestId),
    principal: undefined,
    milliseconds: 0,
    problem,
    error,
    notes: {},
  });
}
