import type { Request, RequestHandler, Response } from 'express';
import type { ValidateFunction } from 'ajv';
import type { Logger } from 'pino';
import type { OperationId, OperationRow, Scope } from '../../generated/operations.ts';
import type { Budget, RequestMemory } from '../limits/memory-budget.ts';
import { insufficientScope } from '../errors/insufficient-scope.ts';
import { ProblemError, type ProblemDetail } from '../errors/problem-error.ts';
import type { BegunAnswer, Idempotency, KeptAnswer } from '../idempotency/idempotency.ts';
import { writeTermMs } from '../idempotency/record-lease.ts';
import { JsonText } from '../runtime/json-text.ts';
import type { Turns } from '../runtime/turns.ts';
import { SecretUnreadableError, type Sealed, type SecretBox } from '../secrets/secret-box.ts';
import {
  bytesInFlight,
  discardStream,
  eventStreamType,
  sendStream,
  type AnswerStream,
  type EventStream,
  type StreamedAnswer,
  type StreamEnd,
} from './answer-stream.ts';
import { readJsonBody, type ReadBody } from './body.ts';
import { CallerGoneError, callerGoneStatus } from './caller-gone.ts';
import { ifNoneMatch } from './conditional.ts';
import type { EventStreams } from './event-streams.ts';
import { explainBody, explainParameters, isSmall } from './explain.ts';
import { idempotencyKey } from './idempotency-key.ts';
import type { ListQueue } from './list-queue.ts';
import type { Caller, OperationHandler, PreparedBody, Principal, RequestContext, RequestNotes } from './operation.ts';
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
  /** The parsed body; `undefined` if there was none or it was not read. */
  readonly requestBody: unknown;
  /** As it was sent. The body of a streamed answer is empty, because it is not kept. */
  readonly answer: RawAnswer;
  /** How a streamed answer ended. */
  readonly stream?: StreamEnd | undefined;
  readonly keyId: string | undefined;
  readonly milliseconds: number;
  /** The problem of a refused or failed request. */
  readonly problem: ProblemError | undefined;
  /** The error that was thrown, unless it was expected. */
  readonly error: unknown;
  readonly notes: RequestNotes;
}

export interface PipelineDependencies {
  /** Examines a failure before it is answered. @returns the problem to answer with */
  readonly explainFailure?: (error: unknown) => Promise<unknown>;
  readonly authenticate: (caller: Caller) => Promise<Principal>;
  readonly rateLimiter: RateLimiter;
  readonly idempotency: Pick<Idempotency, 'run'>;
  /** Memory for bodies and answers. */
  readonly memory: Budget;
  /** For the work on large bodies. */
  readonly turns: Turns;
  readonly lists: ListQueue;
  readonly streams: EventStreams;
  readonly log: Logger;
  /** Called once for each answer, after it was written to the socket; for a streamed answer, after its end. */
  readonly onExchange: (exchange: Exchange) => void;
  /** The path that a proxy adds in front of the service; empty or left out without one. */
  readonly basePath?: string;
  /** Traits of operations that have any. */
  readonly traits?: Readonly<Partial<Record<OperationId, OperationTraits>>>;
}

/** What the pipeline does differently for an operation. */
export interface OperationTraits {
  /** The operation finds the result of an idempotency key itself. No answers are stored for it. */
  readonly isSelfIdempotent?: true;
  /** Encrypts its stored answers. For operations whose requests or answers can contain a secret. */
  readonly answerBox?: Pick<SecretBox, 'seal' | 'open'>;
  /** How long a request is not taken over after its process died, in milliseconds; `writeTermMs` if left out. */
  readonly idempotencyTermMs?: (headers: Readonly<Record<string, unknown>>) => number;
  /** It lists data in memory, so it does not wait for other lists. */
  readonly isListedFromMemory?: true;
}

export interface OperationRoute {
  readonly operationId: OperationId;
  readonly row: OperationRow;
  readonly handler: OperationHandler<OperationId>;
  readonly parameters: ValidateFunction;
  readonly body: ValidateFunction | undefined;
  /** Validators that find every error; loaded when a request was refused. */
  readonly thorough: () => Promise<Record<string, ValidateFunction>>;
}

interface Progress {
  keyId: string | undefined;
  body: unknown;
  readonly notes: RequestNotes;
  /** Header fields of every answer from this point on. */
  headers: Record<string, string>;
  /** The memory of the body and what is made of it; undefined if none was needed. */
  memory: RequestMemory | undefined;
  /** Releases the memory of a streamed answer. */
  release: (() => void) | undefined;
}

/** Answers up to this size are not counted. */
const smallBytes = 16 * 1024;

const publicPrincipal: Principal = { keyId: 'anonymous', name: 'anonymous', scopes: new Set<Scope>() };

/**
 * Creates the Express handler of an operation: authentication, scope, rate limit, content negotiation, body,
 * validation, idempotency, handler, answer, in the order of precedence that the contract documents.
 */
export function createOperationHandler(route: OperationRoute, dependencies: PipelineDependencies): RequestHandler {
  const mediaTypes = [
    ...new Set(
      Object.entries(route.row.responses).flatMap(([status, type]) => (status < '300' && type !== null ? [type] : [])),
    ),
    ...route.row.otherMedia,
  ];
  const { basePath = '' } = dependencies;
  return async (request, response) => {
    const started = performance.now();
    const requestId = requestIdOf(request);
    const progress: Progress = {
      keyId: undefined,
      body: undefined,
      notes: {},
      headers: {},
      memory: undefined,
      release: undefined,
    };
    let answer: RawAnswer | StreamedAnswer;
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
        ({ problem, unexpected } = splitFailure(error));
      }
    }
    holdUntilSent(response, answer, progress, dependencies.memory);
    try {
      const headers = basePath === '' ? answer.headers : withBasePath(answer.headers, basePath);
      const sent = sendAnswer(response, { ...answer, headers }, requestId, progress.headers);
      const stream = answer.stream === undefined ? undefined : await sendStream(response, answer.stream);
      if (stream?.outcome === 'error') ({ problem, unexpected } = splitFailure(stream.error));
      else if (stream !== undefined) unexpected = stream.error;
      dependencies.onExchange({
        operationId: route.operationId,
        requestId,
        method: request.method,
        url: request.originalUrl,
        requestHeaders: request.headers,
        requestBody: progress.body,
        answer: sent,
        stream,
        keyId: progress.keyId,
        milliseconds: performance.now() - started,
        problem,
        error: unexpected,
        notes: progress.notes,
      });
    } catch (error) {
      dependencies.log.error({ error, request_id: requestId }, 'the answer could not be sent');
      if (answer.stream !== undefined) discardStream(answer.stream);
      response.destroy();
    }
  };
}

/** An expected failure without a cause needs no stack in the log. */
function splitFailure(error: unknown): { problem: ProblemError | undefined; unexpected: unknown } {
  const problem = error instanceof ProblemError ? error : undefined;
  return { problem, unexpected: problem === undefined || problem.cause !== undefined ? error : undefined };
}

/** Callers behind a proxy need the path that it removes from their requests. Stored answers are without it. */
function withBasePath(headers: Readonly<Record<string, string>>, basePath: string): Record<string, string> {
  const { location, link, ...others } = headers;
  return {
    ...others,
    ...(location !== undefined && { location: basePath + location }),
    ...(link !== undefined && { link: link.replace('</', `<${basePath}/`) }),
  };
}

/** Counts a large answer, and the body, until the caller has received the answer or closed the connection. */
function holdUntilSent(
  response: Response,
  { body: { length }, bytes }: RawAnswer | StreamedAnswer,
  { keyId, memory, release }: Progress,
  budget: Budget,
): void {
  const isSmall = length <= smallBytes || bytes !== undefined;
  if (isSmall && memory === undefined && release === undefined) return;
  const releaseAnswer = isSmall ? undefined : budget.hold(keyId ?? publicPrincipal.keyId, length * 2);
  const releaseAll = (): void => {
    memory?.release();
    release?.();
    releaseAnswer?.();
  };
  if (response.closed || response.destroyed) releaseAll();
  else response.once('close', releaseAll);
}

/** Writes an answer, or the head of a streamed one; returns it with the fields that were added. */
export function sendAnswer(
  response: Response,
  answer: RawAnswer | StreamedAnswer,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): RawAnswer {
  const { status, stream } = answer;
  const all: Record<string, string> = { 'cache-control': 'no-store', 'x-request-id': requestId };
  Object.assign(all, headers, answer.headers);
  const sent: RawAnswer = { status, headers: all, body: answer.body };
  if (response.destroyed || response.headersSent) return sent;
  if (stream !== undefined) {
    if ('length' in stream && stream.length !== undefined) all['content-length'] = String(stream.length);
    response.writeHead(status, all);
  } else if (status === 204 || status === 304) {
    response.writeHead(status, all).end();
  } else {
    all['content-length'] = String(answer.bytes?.length ?? Buffer.byteLength(answer.body));
    response.writeHead(status, all).end(answer.bytes ?? answer.body);
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
): Promise<RawAnswer | StreamedAnswer> {
  const { row } = route;
  const { isSelfIdempotent, answerBox, idempotencyTermMs, isListedFromMemory } =
    dependencies.traits?.[route.operationId] ?? {};
  const principal = row.needsKey ? await dependencies.authenticate(request) : publicPrincipal;
  if (row.needsKey) {
    progress.keyId = principal.keyId;
    if (row.scope !== null && !principal.scopes.has(row.scope as Scope)) throw insufficientScope(row.scope);
    progress.headers = dependencies.rateLimiter.count(principal.keyId);
    // No answer of an operation that needs a key is cached.
    if (principal.renewedCookie !== undefined) progress.headers['set-cookie'] = principal.renewedCookie;
  }
  requireAcceptable(request, mediaTypes);
  const { keyId } = principal;
  const memory = (): RequestMemory => (progress.memory ??= dependencies.memory.forRequest(keyId));
  const bodyMemory = { keyId, budget: dependencies.memory, own: memory, turns: dependencies.turns };
  const read = row.body === 'none' ? undefined : await readJsonBody(request, response, row.bodyLimit, bodyMemory);
  const body = read?.value;
  progress.body = body;
  const parameters = parseParameters(row, request.params, searchOf(request.url), request.headers);
  if (parameters.mistakes.length > 0 || !route.parameters(parameters)) throw await refusedParameters(route, parameters);
  if (body === undefined ? row.body === 'required' : route.body?.(body) === false) {
    throw await refusedBody(route, body, read);
  }

  const key = idempotencyKey(parameters.headers['Idempotency-Key']);
  const contextOf = (resourceId?: string): RequestContext =>
    createRequestContext({
      request,
      response,
      requestId,
      principal,
      notes: progress.notes,
      cancelOnHangUp: key === undefined,
      resourceId,
      streams: dependencies.streams,
      memory,
    });
  const { path, query, headers } = parameters;
  // The validators have checked that the values match the types.
  const handle = (context: RequestContext): Promise<HandlerResult> =>
    route.handler({ path, query, headers, body, context } as never);
  if (isList(row) && isListedFromMemory !== true) {
    const context = contextOf();
    const call = { key: principal.keyId, target: request.originalUrl, response, signal: context.signal };
    const list = await dependencies.lists.run(call, async () => serialise(row, await handle(context)));
    return notModified(request, list);
  }
  if (key === undefined || isSelfIdempotent === true) {
    const result = await handle(contextOf());
    if (result.prepared !== undefined) return prepared(request, result.prepared);
    if (result.stream === undefined) return notModified(request, serialise(row, result));
    const answer = notModified(request, streamed(result, result.stream));
    if (answer.stream !== undefined && 'content' in answer.stream) {
      reserveStream(answer.stream, principal.keyId, progress, dependencies.memory);
    }
    return answer;
  }
  const scope = `${principal.keyId} ${route.operationId} ${request.path}`;
  const seal = (answer: KeptAnswer): KeptAnswer =>
    answerBox === undefined ? answer : mapBody(answer, (text) => answerBox.seal(text, scope));
  const work = async (resourceId: string): Promise<KeptAnswer | BegunAnswer<StreamedAnswer>> => {
    const result = await handle(contextOf(resourceId));
    if (result.stream === undefined) return seal(serialise(row, result));
    // The types allow only streams of events here.
    const stream = result.stream as EventStream;
    const begun = streamed(result, stream);
    const { status, headers } = begun;
    const { whole } = stream;
    if (whole === undefined) throw new Error('the answer cannot be kept');
    return {
      begun,
      whole: whole.then((body) => seal({ status, headers, body })),
      onStored() {
        stream.stored();
      },
    };
  };
  const { answer, replayed } = await dependencies.idempotency.run(
    {
      scope,
      keyId: principal.keyId,
      key,
      // A hash of the body is stored. It includes the key, which is not stored, so a weak password cannot be guessed
      // from it.
      body: answerBox === undefined ? body : { key, body },
      termMs: idempotencyTermMs?.(parameters.headers) ?? writeTermMs,
    },
    work,
  );
  if ('stream' in answer) return answer;
  const opened = answerBox === undefined ? answer : mapBody(answer, (text) => openAnswer(text, scope, answerBox));
  return replayed ? { ...opened, headers: { ...opened.headers, 'idempotency-replayed': 'true' } } : opened;
}

function openAnswer(text: string, scope: string, box: Pick<SecretBox, 'open'>): string {
  try {
    return box.open(text as Sealed, scope);
  } catch (cause) {
    if (!(cause instanceof SecretUnreadableError)) throw cause;
    const detail =
      'The service cannot decrypt the stored answer for this Idempotency-Key. Its key is not in SECRETS_KEY.';
    throw new ProblemError('secret-unreadable', { detail, cause });
  }
}

function mapBody(answer: KeptAnswer, map: (text: string) => string): KeptAnswer {
  return { ...answer, body: map(answer.body) };
}

function isList({ method, parameters }: OperationRow): boolean {
  return method === 'GET' && parameters.some((parameter) => parameter.in === 'query' && parameter.name === 'limit');
}

async function refusedParameters(route: OperationRoute, parameters: ParsedParameters): Promise<ProblemError> {
  const thorough = (await route.thorough())[`${route.operationId}Parameters`] ?? route.parameters;
  thorough(parameters);
  const placeOf = ({ detail: _, ...place }: ProblemDetail): string => JSON.stringify(place);
  const { mistakes } = parameters;
  const places = new Set(mistakes.map(placeOf));
  // What could not be read is missing for the validator.
  const others = explainParameters(thorough.errors ?? []).filter((error) => !places.has(placeOf(error)));
  return invalidParameters([...mistakes, ...others]);
}

async function refusedBody(route: OperationRoute, body: unknown, counted: ReadBody | undefined): Promise<ProblemError> {
  if (body === undefined) {
    const errors = [{ detail: 'is required', pointer: '#' }];
    return new ProblemError('invalid-request', { detail: 'The request needs a body.', errors });
  }
  const first = route.body?.errors ?? [];
  // The time to find all errors grows with the square of the body. For a large body only the first error is reported.
  const validate = isSmall(body, counted) ? (await route.thorough())[`${route.operationId}Body`] : undefined;
  validate?.(body);
  const errors = explainBody(route.operationId, validate?.errors ?? first);
  return new ProblemError('invalid-request', { detail: 'The body of the request is not valid.', errors });
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
  readonly stream?: AnswerStream | EventStream;
}

function serialise(row: OperationRow, result: HandlerResult): RawAnswer {
  const { status, body } = result;
  const mediaType = row.responses[status] ?? undefined;
  const headers = headersOf(result, mediaType);
  if (mediaType === undefined) return { status, headers, body: '' };
  if (body instanceof JsonText) return { status, headers, body: body.text };
  return {
    status,
    headers,
    body: typeof body === 'string' && mediaType !== 'application/json' ? body : JSON.stringify(body),
  };
}

function streamed(result: HandlerResult, stream: AnswerStream | EventStream): StreamedAnswer {
  const headers = headersOf(result, stream.mediaType);
  // Reverse proxies pass on the events at once.
  if (stream.mediaType === eventStreamType) headers['x-accel-buffering'] = 'no';
  return { status: result.status, headers, body: '', stream };
}

function headersOf(result: HandlerResult, mediaType: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(result.headers ?? {})) headers[name.toLowerCase()] = String(value);
  if (mediaType !== undefined) {
    headers['content-type'] = mediaType === 'application/json' ? 'application/json; charset=utf-8' : mediaType;
  }
  return headers;
}

/** Counts the memory of a stream until the answer has ended. @throws {ProblemError} as `Budget.reserve` */
function reserveStream({ content }: AnswerStream, keyId: string, progress: Progress, memory: Budget): void {
  try {
    progress.release = memory.reserve(keyId, bytesInFlight);
  } catch (error) {
    content.destroy();
    throw error;
  }
}

/** Caches can keep a copy of an answer that never changes, if they revalidate it each time. */
async function prepared(request: Request, { text, content }: PreparedBody): Promise<RawAnswer> {
  const { status, headers, body } = await content.answer(request.headers);
  const kept = { ...headers, 'cache-control': 'no-cache' };
  return status === 304 ? { status, headers: kept, body: '' } : { status, headers: kept, body: text, bytes: body };
}

function notModified<Answer extends RawAnswer | StreamedAnswer>(request: Request, answer: Answer): Answer | RawAnswer {
  const etag = answer.headers['etag'];
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!isRead || answer.status !== 200 || etag === undefined) return answer;
  if (!ifNoneMatch(request.headers['if-none-match'], etag)) return answer;
  if (answer.stream !== undefined) discardStream(answer.stream);
  return { status: 304, headers: { etag }, body: '' };
}

function searchOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? '' : url.slice(mark + 1);
}
