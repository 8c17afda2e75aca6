import type { components } from '../../../generated/types.ts';
import { problems, type ProblemType } from '../../../generated/problems.ts';
import { messageOf } from '../runtime/system-error.ts';
import { defined } from '../runtime/objects.ts';

/**
 * One mistake in a request and its place: a JSON pointer into the body (`#/messages/0/role`) or into a line of it, a
 * parameter or a header.
 */
export type ProblemDetail = { detail: string; line?: number } & (
  | { pointer: string }
  | { parameter: string }
  | { header: string }
);

/** Members that a problem can have in addition to those of RFC 9457. */
export interface ProblemExtensions {
  provider?: string;
  model?: string;
  provider_status?: number;
  provider_code?: string;
  /** The provider's words, fit for callers and the log. */
  provider_message?: string;
  retryable?: boolean;
  variables?: string[];
  /** Calls to providers. */
  attempts?: components['schemas']['FailedAttempt'][];
  /** Tokens that a failed call used, as far as the provider said. */
  usage?: components['schemas']['Usage'];
  /** Name of a budget. */
  budget?: string;
  /** Why it refuses the call. */
  cause?: NonNullable<components['schemas']['Problem']['cause']>;
  /** What is left of it. */
  left?: components['schemas']['Cost'];
  /** When its next period begins. */
  resets_at?: string;
  /** Of a message of JSON-RPC, as its protocol has it. */
  json_rpc?: { readonly id?: string | number; readonly code: number; readonly data?: object };
  /** A cursor before the oldest event of the feed. */
  first_cursor?: string;
  order_status?: 'open' | 'completed' | 'canceled';
}

export interface ProblemOptions {
  /**
   * What happened in this case, in a sentence. It is sent to the caller, so it contains no secrets and no prompt text.
   */
  detail: string;
  errors?: ProblemDetail[];
  /** Response headers that belong to the problem, such as `Retry-After`. */
  headers?: Record<string, string>;
  extensions?: ProblemExtensions;
  /** Logged, never sent. */
  cause?: unknown;
}

/** A failure that the contract declares. Any other error becomes a 500 without detail. */
export class ProblemError extends Error {
  readonly type: ProblemType;
  readonly status: number;
  readonly errors: readonly ProblemDetail[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly extensions: Readonly<ProblemExtensions>;

  constructor(type: ProblemType, options: ProblemOptions) {
    super(options.detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ProblemError';
    this.type = type;
    this.status = problems[type].status;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
    this.extensions = options.extensions ?? {};
  }
}

/** The message of an error, or of the cause of a problem: what the database, the storage or its driver said. */
export function reasonOf(error: unknown): string {
  return messageOf(error instanceof ProblemError ? (error.cause ?? error) : error);
}

/** What the provider answered whose failure the problem is. */
export function saidByProvider(problem: ProblemError | undefined): Partial<ProblemExtensions> {
  const { provider_status, provider_code, provider_message } = problem?.extensions ?? {};
  return defined({ provider_status, provider_code, provider_message });
}
