import type { OperationName } from './generated/operations.ts';
import type { OperationProblemNames, ProblemNames } from './generated/problems.ts';
import type { components } from './generated/types.ts';

/** Error details (RFC 9457), as the service sent them. */
export type Problem = components['schemas']['Problem'];

const prefix = 'urn:prompt-gateway:problem:';

type Type<Name extends string> = `${typeof prefix}${Name}`;
type Status = keyof ProblemNames;

/** The data of a failed call, whatever the reason. */
export interface CallFacts {
  /** The called method, such as `prompts.invoke`. */
  operation: OperationName;
  /** The number of attempts of the call. */
  attempts: number;
  /**
   * The service may have applied the call, because an attempt got no definite answer. Always false for calls that only
   * read.
   */
  mayHaveBeenApplied: boolean;
  /** The key that the call sent. A later call with this key cannot do the same action twice. */
  idempotencyKey: string | undefined;
}

/** A call failed. All errors of the client extend this class, except the reason of your own `AbortSignal`. */
export class GatewayError extends Error implements CallFacts {
  override readonly name: string = 'GatewayError';
  readonly operation: OperationName;
  readonly attempts: number;
  readonly mayHaveBeenApplied: boolean;
  readonly idempotencyKey: string | undefined;

  constructor(message: string, facts: CallFacts, options?: ErrorOptions) {
    super(`${facts.operation}: ${message}`, options);
    this.operation = facts.operation;
    this.attempts = facts.attempts;
    this.mayHaveBeenApplied = facts.mayHaveBeenApplied;
    this.idempotencyKey = facts.idempotencyKey;
  }
}

/**
 * No answer arrived: the service cannot be reached, or the connection was cut. `cause` is the error of `fetch`. The
 * message names the URL, and the system's error code if the runtime tells it.
 */
export class ConnectionError extends GatewayError {
  override readonly name = 'ConnectionError';
}

/**
 * No answer arrived within the time limit of the attempt or of the call. If the call has an `idempotencyKey`, the
 * service can still be working on it: a later call with this key gets the answer.
 */
export class TimeoutError extends GatewayError {
  override readonly name = 'TimeoutError';
}

/** The service, or a server in front of it, answered with a failure. */
export class AnswerError extends GatewayError {
  override readonly name: string = 'AnswerError';
  /** HTTP status of the answer. */
  readonly status: number;
  /** Headers of the answer. */
  readonly headers: Headers;
  /** `X-Request-Id` of the answer. The log of the service contains the call under this id. */
  readonly requestId: string | undefined;

  constructor(message: string, answer: { status: number; headers: Headers }, facts: CallFacts) {
    const requestId = answer.headers.get('x-request-id') ?? undefined;
    super(requestId === undefined ? message : `${message} (request ${requestId})`, facts);
    this.status = answer.status;
    this.headers = answer.headers;
    this.requestId = requestId;
  }
}

/**
 * The answer does not come from the service, or not from this operation: an error page of a proxy, a redirect,
 * something other than JSON, or that the service has no such operation. `baseUrl` may be wrong; the message names the
 * URL.
 */
export class UnexpectedAnswerError extends AnswerError {
  override readonly name = 'UnexpectedAnswerError';
  /** The first 1,000 characters of the answer. */
  readonly text: string;
  /** The error details (RFC 9457), if the service answered that it has no such operation. */
  readonly problem: Problem | undefined;

  constructor(
    message: string,
    answer: { status: number; headers: Headers; text: string; problem?: Problem | undefined },
    facts: CallFacts,
  ) {
    super(message, answer, facts);
    this.text = answer.text.slice(0, 1_000);
    this.problem = answer.problem;
  }
}

/**
 * The service answered with error details (RFC 9457). Each subclass stands for one status or group of statuses. The
 * reference describes every type. Later releases add types, so handle unknown types in a default case.
 */
export class ProblemError<S extends Status = Status> extends AnswerError {
  override readonly name: string = 'ProblemError';
  declare readonly status: S;
  /** Type of the problem. Programs decide by this. */
  readonly type: Type<ProblemNames[S]>;
  /** Short text, the same for all problems of this type. */
  readonly title: string;
  /** What happened in this case, for people. The wording can change. */
  readonly detail: string;
  /** The complete problem, with the members that only some types have. */
  readonly problem: Problem;

  constructor(problem: Problem, answer: { status: number; headers: Headers }, facts: CallFacts) {
    const { type, title, detail, errors = [] } = problem;
    const mistakes = errors.slice(0, 3).map((mistake) => {
      const place = mistake.pointer ?? mistake.parameter ?? mistake.header;
      return ` ${place === undefined ? '' : `${place}: `}${mistake.detail}${mistake.detail.endsWith('?') ? '' : '.'}`;
    });
    super(`${detail}${mistakes.join('')} [${answer.status} ${type.slice(prefix.length)}]`, answer, facts);
    this.type = type as Type<ProblemNames[S]>;
    this.title = title;
    this.detail = detail;
    this.problem = problem;
  }
}

/** The request breaks a rule of HTTP or of the contract. `problem.errors` lists the mistakes. */
export class BadRequestError extends ProblemError<400 | 406 | 408 | 413 | 415 | 417 | 428 | 431> {
  override readonly name = 'BadRequestError';
}

/** The API key is missing, unknown, expired or revoked. */
export class AuthenticationError extends ProblemError<401> {
  override readonly name = 'AuthenticationError';
}

/** The API key may not do this. */
export class PermissionError extends ProblemError<403> {
  override readonly name = 'PermissionError';
}

/** The resource does not exist. */
export class NotFoundError extends ProblemError<404> {
  override readonly name = 'NotFoundError';
}

/** The call is not possible in the current state of the resource. */
export class ConflictError extends ProblemError<409> {
  override readonly name = 'ConflictError';
}

/** The resource has changed since the answer whose `ETag` is in `ifMatch`. The call changed nothing. */
export class PreconditionFailedError extends ProblemError<412> {
  override readonly name = 'PreconditionFailedError';
}

/** The request is well-formed but cannot be executed, for example because a variable is missing. */
export class UnprocessableError extends ProblemError<422> {
  override readonly name = 'UnprocessableError';
}

/** The API key has sent too many requests, or stores too much. The call changed nothing. */
export class RateLimitError extends ProblemError<429> {
  override readonly name = 'RateLimitError';
}

/** The provider of the model failed. `problem.provider` and `problem.retryable` say more. */
export class ProviderError extends ProblemError<502> {
  override readonly name = 'ProviderError';
}

/** The service cannot answer: it is overloaded, its database is unavailable, or it failed unexpectedly. */
export class ServiceError extends ProblemError<500 | 503 | 504> {
  override readonly name = 'ServiceError';
}

/** Creates the error of a problem: in the class for its status, or `ProblemError` for an unknown status. */
export function problemError(...made: ConstructorParameters<typeof ProblemError>): ProblemError {
  const classes: Record<number, new (...made: ConstructorParameters<typeof ProblemError>) => ProblemError> = {
    401: AuthenticationError,
    403: PermissionError,
    404: NotFoundError,
    409: ConflictError,
    412: PreconditionFailedError,
    422: UnprocessableError,
    429: RateLimitError,
    502: ProviderError,
    500: ServiceError,
    503: ServiceError,
    504: ServiceError,
    400: BadRequestError,
    406: BadRequestError,
    408: BadRequestError,
    413: BadRequestError,
    415: BadRequestError,
    417: BadRequestError,
    428: BadRequestError,
    431: BadRequestError,
  };
  return new (classes[made[1].status] ?? ProblemError)(...made);
}

/** The error code of the system, such as ECONNREFUSED, in an error of `fetch`. */
export function systemCode(error: unknown): string | undefined {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  const found = cause?.code ?? code;
  return typeof found === 'string' ? found : undefined;
}

/** Reads a problem of the service. Problems of other servers have other types. */
export function readProblem(value: unknown): Problem | undefined {
  const type = (value as Problem | undefined)?.type;
  return typeof type === 'string' && type.startsWith(prefix) ? (value as Problem) : undefined;
}

/** Whether the error has one of these types. */
export function hasType(error: unknown, names: readonly string[]): boolean {
  return error instanceof ProblemError && names.includes(error.type.slice(prefix.length));
}

/** Whether the service does not have the path, or the method at this path. The client uses only those of the contract. */
export function isForeignPath({ type }: Problem): boolean {
  return type === `${prefix}route-not-found` || type === `${prefix}method-not-allowed`;
}

/** The errors that an operation declares: a union by status, each with the problem types of that status. */
export type OperationProblem<Name extends OperationName> = {
  [S in keyof OperationProblemNames[Name] & Status]: ProblemError<S> & {
    readonly status: S;
    readonly type: Type<OperationProblemNames[Name][S] & string>;
  };
}[keyof OperationProblemNames[Name] & Status];

/**
 * Tells whether an error is an answer of this operation. `status` and `type` then have exactly the values that the
 * contract declares for the operation. Later releases add types, so keep a default for those that you do not know.
 *
 * ```ts
 * try {
 *   await gateway.orders.create(order);
 * } catch (error) {
 *   if (!isProblemOf(error, 'orders.create')) throw error;
 *   if (error.type === 'urn:prompt-gateway:problem:unknown-product') console.log(error.problem.errors);
 * }
 * ```
 */
export function isProblemOf<Name extends OperationName>(
  error: unknown,
  operation: Name,
): error is OperationProblem<Name> {
  return error instanceof ProblemError && error.operation === operation;
}
