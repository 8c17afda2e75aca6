import type { AuthorRef } from '../../base/limits/principal.ts';
import type { StoredMoney } from '../../base/runtime/money.ts';
import type { ProblemError } from '../../base/errors/problem-error.ts';
import type { FinishReason, Usage } from '../../models/language-model.ts';

export type InvocationOperation =
  | 'invoke'
  | 'chat-completion'
  | 'response'
  | 'message'
  | 'embedding'
  | 'test-run'
  | 'evaluation'
  | 'provider-test';
export type InvocationStatus = 'succeeded' | 'failed' | 'canceled' | 'interrupted';
/** As it is stored: documents have the other spelling of `canceled`. */
export type StoredStatus = Exclude<InvocationStatus, 'canceled'> | 'cancelled';

/** A call to a provider, as it is stored. */
export interface CallAttemptDocument {
  provider: string;
  model: string;
  status: StoredStatus;
  problem?: ProblemError['type'];
  /** Why it failed, in a sentence. */
  detail?: string;
  /** What the provider said about it. */
  provider_status?: number;
  provider_code?: string;
  provider_message?: string;
  started_at: Date;
  latency_ms?: number;
  usage?: Usage;
  usage_source?: 'provider' | 'estimated' | 'ceiling';
  /** In billionths of a dollar; absent if it is unknown. */
  cost?: StoredMoney;
  price_match?: 'prefix';
  /** Beside a ceiling. */
  estimate?: { usage: Usage; cost?: StoredMoney };
  answer_model?: string;
  answer_id?: string;
  /** The periods of budgets that pay for it. */
  budgets?: readonly string[];
}

/**
 * The record of an invocation, as it is stored: once, when the invocation has ended. Until then it is in the journal of
 * its process with the status `interrupted`, as it is stored if the process is killed.
 */
export interface InvocationDocument {
  _id: string;
  created_at: Date;
  operation: InvocationOperation;
  status: StoredStatus;
  problem?: ProblemError['type'];
  /** Name of the budget that refused a call. */
  refused_by?: string;
  author: AuthorRef;
  prompt_id?: string;
  prompt_slug?: string;
  prompt_version?: number;
  label?: string;
  /** A canary. Records of earlier releases name it so. */
  rollout?: CanaryDocument;
  /** Id of the canary for which it counts as a failure. */
  rollout_failure?: string;
  /** That it is for. */
  evaluation_id?: string;
  /** `name=value` */
  tags?: readonly string[];
  request_id: string;
  trace_id?: string;
  streamed: boolean;
  cached: boolean;
  joined?: string;
  /** The limit of output tokens that a budget gave to providers that would have got none. */
  assumed_max_output_tokens?: number;
  /** Absent unless its content was kept. */
  content_kept?: true;
  provider?: string;
  model?: string;
  latency_ms?: number;
  first_content_ms?: number;
  finish_reason?: FinishReason;
  usage?: Usage;
  /** In billionths of a dollar; absent if it is unknown. */
  cost?: StoredMoney;
  attempts: CallAttemptDocument[];
}

/** How a label decided which version an invocation runs, while a share of them runs another one. */
export interface CanaryDocument {
  id: string;
  /** The share of the invocations that ran the other version, when it was drawn. */
  share: number;
  arm: 'stable' | 'canary';
  /** `whole`: the first target gave a whole answer. */
  outcome: 'whole' | 'failed' | 'not-counted';
}

/** Failures that count for a canary. */
export interface CanaryFailures extends Pick<CanaryDocument, 'share' | 'arm'> {
  readonly count: number;
}

/** What is read of a record to add up costs. */
export type CalledDocument = Pick<
  InvocationDocument,
  '_id' | 'created_at' | 'author' | 'prompt_id' | 'prompt_slug' | 'prompt_version' | 'tags'
> & {
  readonly attempts: readonly Pick<
    CallAttemptDocument,
    'provider' | 'model' | 'status' | 'usage' | 'usage_source' | 'cost' | 'estimate'
  >[];
};

/** Which invocations a list has. */
export interface InvocationFilter {
  /** From, inclusive. */
  readonly since?: Date | undefined;
  /** Up to, exclusive. */
  readonly until?: Date | undefined;
  /** Only those of these prompts. */
  readonly promptIds?: ReadonlySet<string> | undefined;
  readonly promptId?: string | undefined;
  readonly version?: number | undefined;
  readonly label?: string | undefined;
  readonly canary?: string | undefined;
  readonly arm?: CanaryDocument['arm'] | undefined;
  readonly canaryOutcome?: CanaryDocument['outcome'] | undefined;
  readonly authorId?: string | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly status?: InvocationStatus | undefined;
  readonly problem?: string | undefined;
  readonly requestId?: string | undefined;
  /** One call has all of these. */
  readonly attemptProvider?: string | undefined;
  readonly attemptModel?: string | undefined;
  readonly attemptStatus?: InvocationStatus | undefined;
  readonly attemptCost?: 'unknown' | undefined;
  readonly attemptProblem?: string | undefined;
  readonly refusedBy?: string | undefined;
  readonly evaluationId?: string | undefined;
  readonly cached?: 'only' | 'exclude' | undefined;
  /** `name=value` */
  readonly tag?: string | undefined;
}

export function toStoredStatus(status: InvocationStatus): StoredStatus {
  return status === 'canceled' ? 'cancelled' : status;
}

export function fromStoredStatus(status: StoredStatus): InvocationStatus {
  return status === 'cancelled' ? 'canceled' : status;
}
