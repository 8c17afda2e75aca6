import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { OperationId, OperationRow, Scope } from '../../generated/operations.ts';
import { insufficientScope } from '../base/errors/insufficient-scope.ts';
import { ProblemError } from '../base/errors/problem-error.ts';
import { readOnly } from '../base/errors/read-only.ts';
import type { Idempotency } from './idempotency/idempotency.ts';
import { writeTermMs } from './idempotency/record-lease.ts';
import type { MemoryBudget, RequestMemory } from '../base/limits/memory-budget.ts';
import type { Turns } from '../base/runtime/turns.ts';
import type { SecretBox } from '../base/secrets/secret-box.ts';
import { notModified, prepared, sendAnswer, serialise, streamed, withBasePath, type HandlerResult } from './answer.ts';
import { bytesInFlight, discardStream, eventStreamType, sendStream, type StreamedAnswer } from './answer-stream.ts';
import { type KeptBody, openLinesBody, readJsonBody, type ReadBody } from './body.ts';
import { CallerGoneError, callerGoneStatus, hangUpSignal } from './caller-gone.ts';
import type { EventStreams } from './event-streams.ts';
import type { Exchange } from './exchange.ts';
import { idempotencyKey } from './idempotency-key.ts';
import { keyedAnswer } from './keyed-answer.ts';
import { coverLines, linesOf } from './lines-body.ts';
import type { ListQueue } from './list-queue.ts';
import type { Caller, OperationRoute, AuthenticatedPrincipal, PerformedInput, RequestNotes } from './operation.ts';
import { isList, isShared, perform as performOperation } from './performed.ts';
import { parseParameters } from './parameters.ts';
import { problemAnswer, type RawAnswer } from './problem-response.ts';
import type { RateLimiter } from './rate-limit.ts';
import { refusedBody, refusedParameters, requireAcceptable } from './refuse.ts';
import { LazyRequestContext, requestIdOf, type RequestContextOptions } from './request-context.ts';
import { readRest } from './unread-body.ts';

export interface PipelineDependencies {
  /** Examines a failure before it is answered. @returns the problem to answer with */
  readonly explainFailure?: (error: unknown) => Promise<unknown>;
  readonly authenticate: (caller: Caller) => Promise<AuthenticatedPrincipal>;
  /** Calls back when the session of the principal of a stream ends; for sessions that can end before. */
  readonly watch?: RequestContextOptions['watch'];
  readonly rateLimiter: RateLimiter;
  readonly idempotency: Pick<Idempotency, 'run'>;
  /** Memory for bodies and answers. */
  readonly memory: MemoryBudget;
  /** For the work on large bodies. */
  readonly turns: Turns;
  readonly lists: ListQueue;
  readonly streams: EventStreams;
  /** Work on answers that have not begun: aborting one with a problem answers its request with it. */
  readonly underWay: Set<AbortController>;
  readonly log: Logger;
  /** Called once for each answer, after it was written to the socket; for a streamed answer, after its end. */
  readonly onExchange: (exchange: Exchange) => void;
  /** Whether operations that change or spend something are refused. */
  readonly isReadOnly?: boolean;
  /** The path that a proxy adds in front of the service; empty or left out without one. */
  readonly basePath?: string;
  /** Traits of operations that have any. */
  readonly traits?: Readonly<Partial<Record<OperationId, OperationTraits>>>;
}

/** What the pipelines of all operations share. */
export interface SharedPipeline extends PipelineDependencies {
  /** Every operation. Known when the first request comes. */
  readonly routes: ReadonlyMap<OperationId, OperationRoute>;
}

/** What the pipeline does differently for an operation. */
export interface OperationTraits {
  /** The operation finds the result of an idempotency key itself. No answers are stored for it. */
  readonly isSelfIdempotent?: true;
  /** Encrypts its stored answers. For operations whose requests or answers can contain a secret. */
  readonly answerBox?: Pick<SecretBox, 'seal' | 'open'>;
  /** How long a request is not taken over after its process died, in milliseconds; `writeTermMs` if left out. */
  readonly idempotencyTermMs?: (headers: Readonly<Record<string, unknown>>) => number;
  /** Its handler gets the text of the body too. */
  readonly keepsBody?: KeptBody;
  /** It lists data in memory, so it does not wait for other lists. */
  readonly isListedFromMemory?: true;
}

interface Progress {
  /** Anonymous until it is known, and for operations without a key. */
  principal: AuthenticatedPrincipal;
  body: unknown;
  readonly notes: RequestNotes;
  /** Header fields of every answer from this point on. */
  headers: Record<string, string>;
  /** The memory of the body and what is made of it; undefined if none was needed. */
  memory: RequestMemory | undefined;
  /** Releases the memory of the answer. */
  release: (() => void) | undefined;
  /** Of the work on the answer; undefined if no handler can be stopped. */
  ending: AbortController | undefined;
}

/** Answers up to this size are not counted. */
const smallBytes = 16 * 1024;
/** Answers above this size count as those of large requests. */
const largeBytes = 64 * 1024;

const anonymous: AuthenticatedPrincipal = {
  kind: 'key',
  id: 'anonymous',
  name: 'anonymous',
  family: 'anonymous',
  scopes: new Set<Scope>(),
};

/**
 * Creates the Express handler of an operation: authentication, scope, rate limit, content negotiation, body,
 * validation, idempotency, handler, answer, in the order of precedence that the contract documents.
 */
export function createOperationHandler(route: OperationRoute, dependencies: SharedPipeline): RequestHandler {
  const { basePath = '' } = dependencies;
  const perform = createSteps(route, dependencies);
  return async (request, response) => {
    const started = performance.now();
    const requestId = requestIdOf(request);
    // A closed connection has no address any more.
    const address = request.ip;
    const progress: Progress = {
      principal: anonymous,
      body: undefined,
      notes: {},
      headers: {},
      memory: undefined,
      release: undefined,
      ending: undefined,
    };
    let answer: RawAnswer | StreamedAnswer;
    let problem: ProblemError | undefined;
    let unexpected: unknown;
    try {
      answer = await perform(request, response, requestId, progress);
      countAnswer(route.row, answer, progress, dependencies.memory);
    } catch (failure) {
      const error = (await dependencies.explainFailure?.(failure)) ?? failure;
      if (error instanceof CallerGoneError) {
        answer = { status: callerGoneStatus, headers: {}, body: '' };
      } else {
        answer = problemAnswer(error, request.path, requestId, request.headers);
        ({ problem, unexpected } = splitFailure(error));
      }
    } finally {
      if (progress.ending !== undefined) dependencies.underWay.delete(progress.ending);
    }
    releaseWhenSent(response, progress);
    await readRest(request);
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
        address,
        requestHeaders: request.headers,
        requestBody: progress.body,
        answer: sent,
        stream,
        principal: progress.principal === anonymous ? undefined : progress.principal,
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

/**
 * Counts a large answer, which is in memory until the caller has taken it. One that was made before is shared.
 *
 * @throws {ProblemError} too-much-in-progress, overloaded, for a stream and for what was only read: others wait for their
 *   turn (lists), or the work is done
 */
function countAnswer(
  row: OperationRow,
  { stream, body, bytes }: RawAnswer | StreamedAnswer,
  progress: Progress,
  budget: MemoryBudget,
): void {
  const {
    principal: { family },
    memory,
  } = progress;
  if (stream !== undefined) {
    if (!('content' in stream)) return;
    const size = stream.memory ?? bytesInFlight;
    if (size <= (memory?.held ?? 0)) return;
    try {
      progress.release = budget.reserveLarge(family, size);
    } catch (error) {
      stream.content.destroy();
      throw error;
    }
    return;
  }
  if (bytes !== undefined || body.length <= smallBytes) return;
  const size = Buffer.byteLength(body);
  if (size <= (memory?.held ?? 0)) return;
  if (row.method !== 'GET' || isList(row) || progress.principal === anonymous)
    progress.release = budget.hold(family, size);
  else progress.release = size > largeBytes ? budget.reserveLarge(family, size) : budget.reserve(family, size);
}

/** Releases the memory of the body and the answer when the caller has taken the answer or closed the connection. */
function releaseWhenSent(response: Response, { memory, release }: Progress): void {
  if (memory === undefined && release === undefined) return;
  const releaseAll = (): void => {
    memory?.release();
    release?.();
  };
  if (response.closed || response.destroyed) releaseAll();
  else response.once('close', releaseAll);
}

/** The steps from the request to its answer. What is the same for every request is decided here. */
function createSteps(
  route: OperationRoute,
  dependencies: SharedPipeline,
): (
  request: Request,
  response: Response,
  requestId: string,
  progress: Progress,
) => Promise<RawAnswer | StreamedAnswer> {
  const { operationId, row } = route;
  const { authenticate, rateLimiter, memory: budget, turns, streams, lists, idempotency } = dependencies;
  const { watch = () => undefined } = dependencies;
  const isClosed = dependencies.isReadOnly === true && row.problems.includes('read-only');
  const { isSelfIdempotent, answerBox, idempotencyTermMs, isListedFromMemory, keepsBody } =
    dependencies.traits?.[operationId] ?? {};
  const isQueued = isList(row) && isListedFromMemory !== true;
  const mediaTypes = [
    ...new Set(
      Object.entries(row.responses).flatMap(([status, type]) => (status < '300' && type !== null ? [type] : [])),
    ),
    ...row.otherMedia,
  ];
  const canStream = mediaTypes.includes(eventStreamType);
  const performFor = async (
    options: RequestContextOptions,
    gone: () => AbortSignal,
    id: OperationId,
    input: PerformedInput,
  ): Promise<RawAnswer> => {
    const other = dependencies.routes.get(id);
    if (other === undefined) throw new Error(`There is no operation ${id}.`);
    const { principal, response } = options;
    return await performOperation(other, input, {
      ...{ principal, response, gone, lists, isReadOnly: dependencies.isReadOnly === true },
      contextOf: (performed, path) =>
        new LazyRequestContext({ ...options, operationId: performed, path, headers: {}, wantsEventStream: false }),
    });
  };
  return async (request, response, requestId, progress) => {
    const principal = row.needsKey ? await authenticate(request) : anonymous;
    const { id, family } = principal;
    progress.principal = principal;
    if (row.needsKey) {
      if (row.scope !== null && !principal.scopes.has(row.scope as Scope)) {
        throw insufficientScope(row.scope, principal.kind);
      }
      progress.headers = rateLimiter.count(id, principal.reach?.rates);
      // No answer of an operation that needs a key is cached.
      if (principal.renewedCookie !== undefined) progress.headers['set-cookie'] = principal.renewedCookie;
      if (isClosed) throw readOnly();
    }
    requireAcceptable(request, mediaTypes);
    const wantsEventStream = canStream && request.method === 'GET' && request.accepts(mediaTypes) === eventStreamType;
    const memory = (): RequestMemory => (progress.memory ??= budget.forRequest(family));
    const { lineLimit } = row;
    let read: ReadBody | undefined;
    if (lineLimit !== undefined) {
      const chunks = await openLinesBody(request, response, row);
      if (chunks !== undefined) read = { value: linesOf(chunks, route, turns) };
    } else if (row.body !== 'none') {
      read = await readJsonBody(request, response, row, { family, budget, own: memory, turns }, keepsBody);
    }
    const body = read?.value;
    // Lines are gone when they were read.
    progress.body = lineLimit === undefined ? body : undefined;
    const parameters = parseParameters(row, request.params, searchOf(request.url), request.headers);
    if (parameters.mistakes.length > 0 || !route.parameters(parameters)) {
      throw await refusedParameters(route, parameters);
    }
    const isRefused =
      body === undefined ? row.body === 'required' : lineLimit === undefined && route.body?.(body) === false;
    if (isRefused) {
      throw await refusedBody(route, body, read);
    }

    const { path, query, headers } = parameters;
    const key = idempotencyKey(headers['Idempotency-Key']);
    const cancelOnHangUp = key === undefined;
    let signalOfCaller: AbortSignal | undefined;
    const gone = (): AbortSignal => (signalOfCaller ??= hangUpSignal(response));
    const handle = async (resourceId?: string): Promise<HandlerResult> => {
      const options: RequestContextOptions = {
        operationId,
        request,
        response,
        requestId,
        principal,
        notes: progress.notes,
        headers: progress.headers,
        cancelOnHangUp,
        resourceId,
        content: read?.content,
        ending() {
          if (progress.ending === undefined) dependencies.underWay.add((progress.ending = new AbortController()));
          return progress.ending;
        },
        streams,
        watch,
        memory,
        perform: (id, input) => performFor(options, gone, id, input),
        wantsEventStream,
      };
      const context = new LazyRequestContext(options);
      // The validators have checked that the values match the types.
      return route.handler({ path, query, headers, body, context } as never);
    };
    if (isQueued && !wantsEventStream && isShared(row, query)) {
      const call = { principal, target: request.originalUrl, response, signal: gone() };
      return notModified(request, await lists.run(call, async () => serialise(row, await handle())));
    }
    if (key !== undefined && isSelfIdempotent !== true) {
      const scope = `${id} ${operationId} ${request.path}`;
      const termMs = idempotencyTermMs?.(headers) ?? writeTermMs;
      // What was answered may be beyond a limit that the key got since then.
      const locations = principal.reach?.locations;
      const asked = locations === undefined ? body : { body, locations: [...locations].sort() };
      return keyedAnswer({ family, key, scope, body: asked, termMs, box: answerBox }, row, idempotency, handle);
    }
    if (lineLimit !== undefined) await coverLines(memory(), gone());
    const result = await handle();
    if (result.prepared !== undefined) return prepared(request, result.prepared);
    if (result.stream === undefined) return notModified(request, serialise(row, result));
    return notModified(request, streamed(result, result.stream));
  };
}

function searchOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? '' : url.slice(mark + 1);
}
