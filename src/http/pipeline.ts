import type { Request, RequestHandler, Response } from 'express';
import type { ValidateFunction } from 'ajv';
import type { Logger } from 'pino';
import type { OperationId, OperationRow, Scope } from '../../generated/operations.ts';
import type { Budget } from '../limits/memory-budget.ts';
import { ProblemError } from '../errors/problem-error.ts';
import type { Idempotency } from '../idempotency/idempotency.ts';
import { writeTermMs } from '../idempotency/record-lease.ts';
import type { Sealed, SecretBox } from '../secrets/secret-box.ts';
import { announcedBytes, readJsonBody } from './body.ts';
import { CallerGoneError, callerGoneStatus } from './caller-gone.ts';
import { ifNoneMatch } from './conditional.ts';
import { explainBody, explainParameters, isSmall } from './explain.ts';
import { idempotencyKey } from './idempotency-key.ts';
import type { ListQueue } from './list-queue.ts';
import type { OperationHandler, PreparedBody, Principal, RequestNotes } from './operation.ts';
import { invalidParameters, parseParameters, type ParsedParameters } from './parameters.ts';
import { problemAnswer, type RawAnswer } from './problem-response.ts';
import type { RateLimiter } from './rate-limit.ts';
import { createRequestContext, requestIdOf } from './request-context.ts';

/** One finished request, for log, metrics and the contract referee. */
export interface Exchange {
  readonly operationId: OperationId | undefined;
  readonly requestId: string;
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly requestHeaders: Request['headers'];
  /** The parsed body; `undefined` when there was none or it was not reached. */
  readonly requestBody: unknown;
  readonly answer: RawAnswer;
  readonly keyId: string | undefined;
  readonly milliseconds: number;
  /** Why the request was refused, or what failed. */
  readonly problem: ProblemError | undefined;
  /** What was thrown, unless it was expected. */
  readonly error: unknown;
  readonly notes: RequestNotes;
}

export interface PipelineDependencies {
  /** Examines a failure before it is answered. @returns the problem to answer with */
  readonly explainFailure?: (error: unknown) => Promise<unknown>;
  readonly authenticate: (caller: Pick<Request, 'headers' | 'ip'>) => Promise<Principal>;
  readonly rateLimiter: RateLimiter;
  readonly idempotency: Pick<Idempotency, 'run'>;
  /** Memory for bodies and answers. */
  readonly memory: Budget;
  readonly lists: ListQueue;
  readonly log: Logger;
  /** Called once for each answer, after it was handed to the socket. */
  readonly onExchange: (exchange: Exchange) => void;
  /** Of the operations that have any. */
  readonly traits?: Readonly<Partial<Record<OperationId, OperationTraits>>>;
}

/** What the pipeline does differently for an operation. */
export interface OperationTraits {
  /** It finds the result of an idempotency key itself. No answers are stored for it. */
  readonly isSelfIdempotent?: true;
  /** Its requests and answers can contain a secret. Its stored answers are encrypted with this. */
  readonly answerBox?: Pick<SecretBox, 'seal' | 'open'>;
  /**
   * How long one of its requests is safe from being taken over after its process died, in milliseconds; `writeTermMs`
   * when left out.
   */
  readonly idempotencyTermMs?: (headers: Readonly<Record<string, unknown>>) => number;
  /** It lists without reading the database, so it does not wait for other lists. */
  readonly isListedFromMemory?: true;
}

export interface OperationRoute {
  readonly operationId: OperationId;
  readonly row: OperationRow;
  readonly handler: OperationHandler<OperationId>;
  readonly parameters: ValidateFunction;
  readonly body: ValidateFunction | undefined;
  /** Validators that list every error; loaded when a request was refused. */
  readonly thorough: () => Promise<Record<string, ValidateFunction>>;
}

interface Progress {
  keyId: string | undefined;
  body: unknown;
  readonly notes: RequestNotes;
  /** Fields that every answer from here on carries. */
  headers: Record<string, string>;
  /** Releases the memory of the body. */
  release: (() => void) | undefined;
}

/** Bodies and answers up to this size are not worth counting. */
const smallBytes = 16 * 1024;
/** A body exists as bytes, as text and as parsed values. */
const bodyCopies = 4;

const publicPrincipal: Principal = { keyId: 'anonymous', name: 'anonymous', scopes: new Set<Scope>() };

/**
 * Makes the Express handler of an operation: authentication, scope, rate limit, content negotiation, body, validation,
 * idempotency, handler, answer, in the order of precedence that the contract documents.
 */
export function createOperationHandler(route: OperationRoute, dependencies: PipelineDependencies): RequestHandler {
  const mediaTypes = [
    ...new Set(
      Object.entries(route.row.responses).flatMap(([status, type]) => (status < '300' && type !== null ? [type] : [])),
    ),
  ];
  return async (request, response) => {
    const started = performance.now();
    const requestId = requestIdOf(request);
    const progress: Progress = { keyId: undefined, body: undefined, notes: {}, headers: {}, release: undefined };
    let answer: RawAnswer;
    let problem: ProblemError | undefined;
    let unexpected: unknown;
    try {
      answer = await perform(route, dependencies, mediaTypes, request, response, requestId, progress);
    } catch (failure) {
      const error = (await dependencies.explainFailure?.(failure)) ?? failure;
      if (error instanceof CallerGoneError) {
        answer = { status: callerGoneStatus, headers: {}, body: '' };
      } else {
        answer = problemAnswer(error, request.path, requestId);
        if (error instanceof ProblemError) problem = error;
        if (problem === undefined || problem.cause !== undefined) unexpected = error;
      }
    }
    holdUntilSent(response, answer, progress, dependencies.memory);
    try {
      const sent = sendAnswer(response, answer, requestId, progress.headers);
      dependencies.onExchange({
        operationId: route.operationId,
        requestId,
        method: request.method,
        url: request.originalUrl,
        requestHeaders: request.headers,
        requestBody: progress.body,
        answer: sent,
        keyId: progress.keyId,
        milliseconds: performance.now() - started,
        problem,
        error: unexpected,
        notes: progress.notes,
      });
    } catch (error) {
      dependencies.log.error({ error, request_id: requestId }, 'the answer could not be sent');
      response.destroy();
    }
  };
}

/** Counts a large answer, and the body, until the caller has received the answer or closed the connection. */
function holdUntilSent(response: Response, answer: RawAnswer, { keyId, release }: Progress, memory: Budget): void {
  const { length } = answer.body;
  const isSmall = length <= smallBytes || answer.bytes !== undefined;
  if (isSmall && release === undefined) return;
  const releaseAnswer = isSmall ? undefined : memory.hold(keyId ?? publicPrincipal.keyId, length * 2);
  const releaseAll = (): void => {
    release?.();
    releaseAnswer?.();
  };
  if (response.closed || response.destroyed) releaseAll();
  else response.once('close', releaseAll);
}

/** Writes a complete answer; returns it with the fields that were added. */
export function sendAnswer(
  response: Response,
  answer: RawAnswer,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): RawAnswer {
  const all: Record<string, string> = { 'cache-control': 'no-store', 'x-request-id': requestId };
  Object.assign(all, headers, answer.headers);
  const sent: RawAnswer = { status: answer.status, headers: all, body: answer.body };
  if (response.destroyed || response.headersSent) return sent;
  if (answer.status === 204 || answer.status === 304) {
    response.writeHead(answer.status, all).end();
  } else {
    all['content-length'] = String(answer.bytes?.length ?? Buffer.byteLength(answer.body));
    response.writeHead(answer.status, all).end(answer.bytes ?? answer.body);
  }
  return sent;
}

async function perform(
  route: OperationRoute,
  dependencies: PipelineDependencies,
  mediaTypes: readonly string[],
  request: Request,
  response: Response,
  requestId: string,
  progress: Progress,
): Promise<RawAnswer> {
  const { row } = route;
  const { isSelfIdempotent, answerBox, idempotencyTermMs, isListedFromMemory } =
    dependencies.traits?.[route.operationId] ?? {};
  const principal = row.needsKey ? await dependencies.authenticate(request) : publicPrincipal;
  if (row.needsKey) {
    progress.keyId = principal.keyId;
    if (row.scope !== null && !principal.scopes.has(row.scope as Scope)) throw insufficientScope(row.scope);
    progress.headers = dependencies.rateLimiter.count(principal.keyId);
  }
  const announced = row.body === 'none' ? 0 : announcedBytes(request);
  if (announced > smallBytes) progress.release = dependencies.memory.reserve(principal.keyId, announced * bodyCopies);
  requireAcceptable(request, mediaTypes);
  const body = row.body === 'none' ? undefined : await readJsonBody(request, response);
  progress.body = body;
  const parameters = parseParameters(row, request.params, searchOf(request.url), request.headers);
  if (!route.parameters(parameters)) throw await refusedParameters(route, parameters);
  if (body === undefined ? row.body === 'required' : route.body?.(body) === false) throw await refusedBody(route, body);

  const key = idempotencyKey(parameters.headers['Idempotency-Key']);
  const run = async (resourceId?: string): Promise<RawAnswer> => {
    const context = createRequestContext({
      request,
      response,
      requestId,
      principal,
      notes: progress.notes,
      cancelOnHangUp: key === undefined,
      resourceId,
    });
    const { path, query, headers } = parameters;
    // The validators have just checked what the types claim.
    const handle = async (): Promise<RawAnswer> => {
      const result: HandlerResult = await route.handler({ path, query, headers, body, context } as never);
      return result.prepared === undefined ? serialise(row, result) : await prepared(request, result.prepared);
    };
    if (!isList(row) || isListedFromMemory === true) return handle();
    const { originalUrl: target } = request;
    return dependencies.lists.run({ key: principal.keyId, target, response, signal: context.signal }, handle);
  };
  if (key === undefined || isSelfIdempotent === true) {
    return notModified(request, await run());
  }
  const scope = `${principal.keyId} ${route.operationId} ${request.path}`;
  const { answer: kept, replayed } = await dependencies.idempotency.run(
    {
      ...{ scope, keyId: principal.keyId, key },
      // A hash of the body is stored. It includes the key, which is not stored, so nobody can guess a weak password
      // from it.
      body: answerBox === undefined ? body : { key, body },
      termMs: idempotencyTermMs?.(parameters.headers) ?? writeTermMs,
    },
    answerBox === undefined ? run : async (id) => mapBody(await run(id), (text) => answerBox.seal(text, scope)),
  );
  const answer = answerBox === undefined ? kept : mapBody(kept, (text) => answerBox.open(text as Sealed, scope));
  return replayed ? { ...answer, headers: { ...answer.headers, 'idempotency-replayed': 'true' } } : answer;
}

function mapBody(answer: RawAnswer, map: (text: string) => string): RawAnswer {
  return { ...answer, body: map(answer.body) };
}

function isList({ method, parameters }: OperationRow): boolean {
  return method === 'GET' && parameters.some((parameter) => parameter.in === 'query' && parameter.name === 'limit');
}

async function refusedParameters(route: OperationRoute, parameters: ParsedParameters): Promise<ProblemError> {
  const thorough = (await route.thorough())[`${route.operationId}Parameters`] ?? route.parameters;
  thorough(parameters);
  return invalidParameters(explainParameters(thorough.errors ?? []));
}

async function refusedBody(route: OperationRoute, body: unknown): Promise<ProblemError> {
  if (body === undefined) {
    const errors = [{ detail: 'is required', pointer: '#' }];
    return new ProblemError('invalid-request', { detail: 'The request needs a body.', errors });
  }
  // The time to find all errors grows with the square of the body. For a large body only the first error is reported.
  const all = isSmall(body) ? (await route.thorough())[`${route.operationId}Body`] : undefined;
  const validate = all ?? route.body;
  validate?.(body);
  const errors = explainBody(validate?.errors ?? []);
  return new ProblemError('invalid-request', { detail: 'The body of the request is not valid.', errors });
}

function insufficientScope(scope: string): ProblemError {
  return new ProblemError('insufficient-scope', {
    detail: `This key does not have the scope ${scope}.`,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  });
}

function requireAcceptable(request: Request, mediaTypes: readonly string[]): void {
  const accept = request.headers.accept;
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return;
  // Answers have a charset, and a caller can also accept the type with the charset.
  const offered = mediaTypes.flatMap((type) => [type, `${type}; charset=utf-8`]);
  if (offered.length > 0 && request.accepts(offered) === false) {
    throw new ProblemError('not-acceptable', {
      detail: `This operation answers only with ${mediaTypes.join(' or ')}.`,
    });
  }
}

interface HandlerResult {
  readonly status: number;
  readonly headers?: object;
  readonly body?: unknown;
  readonly prepared?: PreparedBody;
}

function serialise(row: OperationRow, result: HandlerResult): RawAnswer {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(result.headers ?? {})) headers[name.toLowerCase()] = String(value);
  const mediaType = row.responses[result.status];
  if (mediaType === null || mediaType === undefined) return { status: result.status, headers, body: '' };
  headers['content-type'] = mediaType === 'application/json' ? 'application/json; charset=utf-8' : mediaType;
  return {
    status: result.status,
    headers,
    body:
      typeof result.body === 'string' && mediaType !== 'application/json' ? result.body : JSON.stringify(result.body),
  };
}

/** Caches can keep a copy of an answer that never changes, if they revalidate it each time. */
async function prepared(request: Request, { text, content }: PreparedBody): Promise<RawAnswer> {
  const { status, headers, body } = await content.answer(request.headers);
  const kept = { ...headers, 'cache-control': 'no-cache' };
  return status === 304 ? { status, headers: kept, body: '' } : { status, headers: kept, body: text, bytes: body };
}

function notModified(request: Request, answer: RawAnswer): RawAnswer {
  const etag = answer.headers['etag'];
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!isRead || answer.status !== 200 || etag === undefined) return answer;
  if (!ifNoneMatch(request.headers['if-none-match'], etag)) return answer;
  return { status: 304, headers: { etag }, body: '' };
}

function searchOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? '' : url.slice(mark + 1);
}
