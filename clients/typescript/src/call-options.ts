import type { operations } from './generated/types.ts';

type OperationId = keyof operations;

/** Header parameters of an operation. */
type HeaderParameters<Id extends OperationId> =
  NonNullable<operations[Id]['parameters']['header']> extends infer Headers
    ? [Headers] extends [never]
      ? Record<never, never>
      : Headers
    : never;

/** An option for a header parameter, if the operation has it. */
type HeaderOption<Id extends OperationId, Name extends string, Option> = Name extends keyof HeaderParameters<Id>
  ? Option
  : unknown;

/** Headers with their own option, which `headers` therefore leaves out. */
type WithOption = 'Idempotency-Key' | 'If-Match' | 'If-None-Match';

/** Filters and position of a list, and other query parameters. */
export type Query<Id extends OperationId> = NonNullable<operations[Id]['parameters']['query']>;

interface IdempotencyOption {
  /**
   * Identifies the action: calls with the same key execute it once and get the same answer. By default each call gets a
   * new key, which its retries keep. With `null` the call sends no key. It is then repeated only if the service says
   * that it did nothing.
   */
  idempotencyKey?: string | null | undefined;
}

interface InvocationKeyOption {
  /**
   * Identifies the invocation: calls with the same key run it once and get the same answer. With a key, the service
   * completes the answer even if you abort the call.
   *
   * By default a call without `signal` gets a new key, which its retries keep, so a lost answer is not paid twice. A
   * call with a `signal` gets none, so that the service stops the provider when you abort. It is then repeated only if
   * the service says that it did nothing, as with `null`.
   */
  idempotencyKey?: string | null | undefined;
}

interface IfMatchOption {
  /** `ETag` of your copy. If the resource has changed since, the call fails with `PreconditionFailedError`. */
  ifMatch?: string | undefined;
}

interface IfNoneMatchOption {
  /**
   * For a read, the `ETag` of your copy: if the resource has not changed since, the call returns `undefined`. For a
   * change, `*`: if the resource exists, the call fails with `PreconditionFailedError`.
   */
  ifNoneMatch?: string | undefined;
}

/** Limits of a call. */
export interface CallLimits {
  /**
   * Milliseconds that one attempt can take, from sending the request to the end of the answer. 75,000 by default. A retry
   * of a call with a key waits for the answer of the attempt that is still in progress at the service, until
   * `totalTimeout`.
   */
  timeout?: number | undefined;
  /** Milliseconds that a call can take with all its attempts and the pauses between them. 180,000 by default. */
  totalTimeout?: number | undefined;
  /** The number of retries after a temporary failure. 2 by default. */
  maxRetries?: number | undefined;
}

/** Limits of a stream. `timeout` and `totalTimeout` cover the time until the answer begins, and not the stream itself. */
export interface StreamLimits extends CallLimits {
  /**
   * Milliseconds that a stream can be silent while you wait for its next event. 30,000 by default; the service sends at
   * least a comment every 10 seconds.
   */
  idleTimeout?: number | undefined;
}

/** Options of every call. */
export interface CommonCallOptions extends CallLimits {
  /**
   * Cancels the call. It then fails with the signal's reason. An invocation is stopped at the provider too, unless it has
   * an `idempotencyKey` of yours.
   */
  signal?: AbortSignal | undefined;
}

/** Options of a call of an operation. */
export type CallOptions<Id extends OperationId> = CommonCallOptions & {
  /** Other headers: those of the operation, and your own. */
  headers?: { [Name in Exclude<keyof HeaderParameters<Id>, WithOption>]?: HeaderParameters<Id>[Name] } & {
    [name: string]: string | number | undefined;
  };
} & HeaderOption<Id, 'Idempotency-Key', Id extends 'invokePrompt' ? InvocationKeyOption : IdempotencyOption> &
  HeaderOption<Id, 'If-Match', IfMatchOption> &
  HeaderOption<Id, 'If-None-Match', IfNoneMatchOption>;

/** Options of a call that is answered with a stream. */
export type StreamOptions<Id extends OperationId> = Omit<CallOptions<Id>, 'idempotencyKey'> &
  Pick<StreamLimits, 'idleTimeout'> &
  HeaderOption<
    Id,
    'Idempotency-Key',
    {
      /**
       * Identifies the action, as in other calls. By default a stream has no key, so it is repeated only if the service
       * says that it did nothing. With a key, the service completes the answer even if you leave, and a call with the same
       * key, or a retry, gets this answer as a short stream.
       */
      idempotencyKey?: string | undefined;
    }
  >;

/** Options as the runtime reads them. The type of a method says which of them it accepts. */
export interface AnyCallOptions
  extends CommonCallOptions, StreamLimits, IdempotencyOption, IfMatchOption, IfNoneMatchOption {
  headers?: Record<string, string | number | undefined> | undefined;
}
