import type { ProblemError } from '../base/errors/problem-error.ts';
import type { IncomingHttpHeaders } from 'node:http';
import type { ValidateFunction } from 'ajv';
import type { OperationId, OperationRow, operationTable, Scope } from '../../generated/operations.ts';
import type { components, operations } from '../../generated/types.ts';
import type { JsonText } from '../base/runtime/json-text.ts';
import type { ProblemDetail } from '../base/errors/problem-error.ts';
import type { RequestMemory } from '../base/limits/memory-budget.ts';
import type { Principal } from '../base/limits/principal.ts';
import type { AnswerStream, EventStream, eventStreamType } from './answer-stream.ts';
import type { EventSource, StartedStream } from './event-streams.ts';
import type { StaticBody } from './static-body.ts';

/** Who sent a request. */
export interface AuthenticatedPrincipal extends Principal {
  readonly scopes: ReadonlySet<Scope>;
  /** The session of a browser, of a person or that stands for a key. */
  readonly sessionId?: string;
  /** When the session ends unless it is renewed. That of a person never is. */
  readonly sessionEndsAt?: Date;
  /** Of a person. */
  readonly roles?: readonly components['schemas']['Role'][];
  /** `Set-Cookie` of the answer, if the session is renewed. */
  readonly renewedCookie?: string;
}

/** Who sent a request, and from where: for operations that sign in and out. */
export interface Caller {
  readonly headers: IncomingHttpHeaders;
  /** The client's address. Protocol and host are those that it used, if the proxies in front are trusted. */
  readonly ip?: string | undefined;
  readonly protocol: string;
  readonly host: string | undefined;
}

/** Additional fields of a request's log line. */
export interface RequestNotes {
  /** The prompt: its id if it was found, else what the request names. And its version or label. */
  prompt?: string;
  version?: number | undefined;
  label?: string;
  /** The provider and model that were chosen. */
  provider?: string;
  model?: string;
  /** Id of the invocation that the request began. */
  invocation?: string;
  /** Id of the evaluation that the request began. */
  evaluation?: string;
  /** Id of the order that the request placed, or that it names. */
  order?: string;
  /** The operation that a tool performed last. */
  performed?: OperationId;
  /** A problem that an answer tells in its body, such as the result of a tool. */
  told?: ProblemError;
}

/** What an operation gets, with the names and types of the contract. */
export interface PerformedInput {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** An answer as it would be sent. */
export interface PerformedAnswer {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Performs an operation for the caller of a request, with its scope, limits and checks. The request counts once for the
 * rate of its caller.
 *
 * @returns its answer, with its own header fields
 * @throws {ProblemError} as the operation answers
 */
export type Perform = (operationId: OperationId, input: PerformedInput) => Promise<PerformedAnswer>;

/** Information about the request in addition to its contract input. */
export interface RequestContext {
  readonly operationId: OperationId;
  readonly requestId: string;
  /** Path of the URL, as it was sent. */
  readonly path: string;
  /** W3C trace context, if the caller sent a well-formed one. */
  readonly traceparent: string | undefined;
  /** The caller's `tracestate`. */
  readonly tracestate: string | undefined;
  readonly principal: AuthenticatedPrincipal;
  readonly caller: Caller;
  /**
   * Aborted when the caller closes the connection, but not if the request has an `Idempotency-Key`, because its answer
   * is stored; and with the problem `interrupted` when a process that stops has no more time.
   */
  readonly signal: AbortSignal;
  /**
   * The id for a new resource: a new one, or the one that an earlier attempt with the same idempotency key reserved.
   */
  readonly resourceId: string;
  /** What the request has of the memory for work in progress: at least what its body needs. */
  readonly memory: RequestMemory;
  /** The JSON of the body as it came; empty unless the operation keeps it. */
  readonly bodyText: string;
  /** Whether the caller asks for Server-Sent Events, by `Accept`, where the answer can also be JSON. */
  readonly wantsEventStream: boolean;
  /** Adds fields to the request's log line. */
  note(notes: RequestNotes): void;
  /** Adds a header field to the answer, also to a problem; not to the copy that is kept for an `Idempotency-Key`. */
  addHeader(name: string, value: string): void;
  /**
   * Begins an answer of Server-Sent Events. It waits for the first event, so that earlier failures are problem answers,
   * but at most ten seconds. Without an `Idempotency-Key` the source is stopped when the caller leaves; with one it
   * goes on, and the whole answer is stored.
   *
   * @throws {ProblemError} too-much-in-progress, overloaded; what the source throws before its first event
   */
  streamEvents<Event>(source: EventSource<Event>): Promise<StartedStream<Event>>;
  /** Performs another operation for the caller. Its answer is whole. */
  readonly perform: Perform;
  /** The signal, which is aborted from now on also when the session ends: for answers that take long. */
  endWithSession(): AbortSignal;
}

type Declared<Headers> = { [Name in keyof Headers as string extends Name ? never : Name]: Headers[Name] };
type Parameters<
  Id extends OperationId,
  Place extends 'path' | 'query' | 'header',
> = operations[Id]['parameters'] extends {
  [P in Place]?: infer Members;
}
  ? NonNullable<Members>
  : Record<string, never>;
type RequestBody<Id extends OperationId> = operations[Id] extends {
  requestBody: { content: { 'application/x-ndjson': string } };
}
  ? BodyLines
  : JsonBody<Id>;
type JsonBody<Id extends OperationId> = operations[Id] extends {
  requestBody: { content: { 'application/json': infer Body } };
}
  ? Body
  : operations[Id] extends { requestBody?: { content: { 'application/json': infer Body } } }
    ? Body | undefined
    : undefined;

/** A line of a body that is not blank: its value, which follows the contract, or what is wrong with it. */
export type BodyLine = { readonly number: number } & (
  | { readonly value: unknown; readonly errors?: never }
  | { readonly errors: readonly ProblemDetail[]; readonly value?: never }
);

/** The lines of a body, read as they are asked for. */
export type BodyLines = AsyncIterable<BodyLine>;

/** The contract's input of the operation, parsed and validated. */
export interface OperationInput<Id extends OperationId> {
  readonly path: Parameters<Id, 'path'>;
  readonly query: Parameters<Id, 'query'>;
  readonly headers: Parameters<Id, 'header'>;
  readonly body: RequestBody<Id>;
  readonly context: RequestContext;
}

/** A body that never changes. */
export interface PreparedBody {
  readonly text: string;
  readonly content: StaticBody;
}

/** Statuses that handlers return; everything else is thrown as a ProblemError, and 304 is made from the ETag. */
type SuccessStatus = 200 | 201 | 202 | 204;
type EventStreamType = typeof eventStreamType;
/** The body of an answer that is sent as a whole. */
type Content<Answer> = Answer extends { content: infer Media }
  ? Media extends Record<string, unknown>
    ? Media[Exclude<keyof Media, EventStreamType>]
    : undefined
  : undefined;
/** All response headers of the contract. Headers that a response does not declare are `never`. */
type HeaderName = {
  [Id in OperationId]: {
    [Status in keyof operations[Id]['responses']]: operations[Id]['responses'][Status] extends {
      headers: infer Headers;
    }
      ? keyof Declared<Headers>
      : never;
  }[keyof operations[Id]['responses']];
}[OperationId];
type MediaTypes<Response> = Response extends { content: infer Media } ? keyof Media & string : never;
/**
 * Operations whose answers are kept for an `Idempotency-Key`, or shared between callers who ask for the same list. Both
 * need the whole body, so these operations answer no stream, except one of events, which can be kept too. A list that is
 * whole without a `limit` is not shared then.
 */
type NeedsWholeBody<Id extends OperationId> = true extends
  | Takes<Id, 'header', 'Idempotency-Key'>
  | ((typeof operationTable)[Id] extends { readonly isWholeWithoutLimit: true } ? false : Takes<Id, 'query', 'limit'>)
  ? true
  : false;
type Takes<Id extends OperationId, Place extends 'query' | 'header', Name extends string> = [
  Parameters<Id, Place>,
] extends [never]
  ? false
  : Name extends keyof Declared<Parameters<Id, Place>>
    ? true
    : false;
interface WholeBody<Body> {
  readonly body: Body | JsonText<Body>;
  /**
   * The body as it is sent, created once for all requests, with its ETag, and compressed if the caller accepts this.
   */
  readonly prepared?: PreparedBody;
  readonly stream?: never;
}
interface StreamedBody<MediaType extends string> {
  readonly stream: MediaType extends EventStreamType ? EventStream : AnswerStream<MediaType>;
  readonly body?: never;
  readonly prepared?: never;
}
type Body<Id extends OperationId, Response> =
  Content<Response> extends undefined
    ? { readonly body?: undefined; readonly stream?: never }
    : WholeBody<Content<Response>> | StreamedBody<StreamableTypes<Id, MediaTypes<Response>>>;
type StreamableTypes<Id extends OperationId, MediaType extends string> =
  NeedsWholeBody<Id> extends true ? Extract<MediaType, EventStreamType> : MediaType;
type Answer<Id extends OperationId, Status, Response> = {
  readonly status: Status;
  readonly headers?: Response extends { headers: infer Headers }
    ? { readonly [Name in HeaderName]?: Name extends keyof Declared<Headers> ? string | number | boolean : never }
    : never;
} & Body<Id, Response>;

/** The contract's answers of the operation: one member for each declared success, with a body or a stream of it. */
export type OperationResult<Id extends OperationId> = {
  [Status in keyof operations[Id]['responses'] & SuccessStatus]: Answer<
    Id,
    Status,
    operations[Id]['responses'][Status]
  >;
}[keyof operations[Id]['responses'] & SuccessStatus];

/** A plain async function from contract input to contract answer. */
export type OperationHandler<Id extends OperationId> = (input: OperationInput<Id>) => Promise<OperationResult<Id>>;

/** Exactly one handler for each operation of the contract. The compiler finds missing and extra handlers. */
export type OperationHandlers = { readonly [Id in OperationId]: OperationHandler<Id> };

/** An operation with its handler and its validators. */
export interface OperationRoute {
  readonly operationId: OperationId;
  readonly row: OperationRow;
  readonly handler: OperationHandler<OperationId>;
  readonly parameters: ValidateFunction;
  readonly body: ValidateFunction | undefined;
  /** Validators that find every error; loaded when a request was refused. */
  readonly thorough: () => Promise<Record<string, ValidateFunction>>;
}
