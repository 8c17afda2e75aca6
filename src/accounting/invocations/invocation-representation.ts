import type { components } from '../../../generated/types.ts';
import { fromStored, showMoney, type StoredMoney } from '../../base/runtime/money.ts';
import { toUsage } from '../../models/usage-representation.ts';
import { defined } from '../../base/runtime/objects.ts';
import type { Feedback } from './feedback-store.ts';
import { fromStoredStatus, type CallAttemptDocument, type InvocationDocument } from './invocation.ts';

type Schemas = components['schemas'];

/** The contract's representation of a record, member by member. */
export function toInvocation(document: InvocationDocument): Schemas['Invocation'] {
  const { problem, tags, usage } = document;
  return defined({
    id: document._id,
    created_at: document.created_at.toISOString(),
    operation: document.operation,
    status: fromStoredStatus(document.status),
    problem: problem && `urn:prompt-gateway:problem:${problem}`,
    refused_by: document.refused_by,
    author: document.author,
    prompt_id: document.prompt_id,
    prompt_slug: document.prompt_slug,
    prompt_version: document.prompt_version,
    label: document.label,
    canary: document.rollout && { ...document.rollout },
    evaluation_id: document.evaluation_id,
    tags: tags && Object.fromEntries(tags.map(split)),
    request_id: document.request_id,
    trace_id: document.trace_id,
    streamed: document.streamed,
    cached: document.cached,
    content_kept: document.content_kept,
    joined: document.joined,
    assumed_max_output_tokens: document.assumed_max_output_tokens,
    provider: document.provider,
    model: document.model,
    latency_ms: document.latency_ms,
    first_content_ms: document.first_content_ms,
    finish_reason: document.finish_reason,
    usage: usage && toUsage(usage),
    cost: toCost(document.cost),
    attempts: document.attempts.map(toAttempt),
  });
}

/** The same with the feedback on it. */
export function toInvocationWithFeedback(
  document: InvocationDocument,
  feedback: readonly Feedback[],
): Schemas['Invocation'] {
  return { ...toInvocation(document), ...(feedback.length > 0 && { feedback: feedback.map(toFeedback) }) };
}

/** The contract's representation of feedback, member by member. */
export function toFeedback(feedback: Feedback): Schemas['InvocationFeedback'] {
  return defined({
    id: feedback.id,
    score: feedback.score,
    name: feedback.name,
    comment: feedback.comment,
    author: feedback.author,
    created_at: feedback.createdAt.toISOString(),
  });
}

function toAttempt(attempt: CallAttemptDocument): Schemas['InvocationAttempt'] {
  const { problem, usage, usage_source: source, estimate } = attempt;
  return defined({
    provider: attempt.provider,
    model: attempt.model,
    status: fromStoredStatus(attempt.status),
    problem: problem && `urn:prompt-gateway:problem:${problem}`,
    detail: attempt.detail,
    provider_status: attempt.provider_status,
    provider_code: attempt.provider_code,
    provider_message: attempt.provider_message,
    started_at: attempt.started_at.toISOString(),
    latency_ms: attempt.latency_ms,
    usage: usage && toUsage(usage),
    usage_source: source,
    cost: toAttemptCost(attempt),
    estimate: estimate && { usage: toUsage(estimate.usage), cost: toCallCost(estimate.cost, attempt) },
    answer_model: attempt.answer_model,
    answer_id: attempt.answer_id,
  });
}

function toCost(cost: StoredMoney | undefined): Schemas['InvocationCost'] {
  return cost === undefined ? null : showMoney(fromStored(cost));
}

function toAttemptCost(attempt: CallAttemptDocument): Schemas['CallCost'] {
  const cost = toCallCost(attempt.cost, attempt);
  return cost === null || attempt.usage_source !== 'ceiling' ? cost : { ...cost, basis: 'ceiling' };
}

function toCallCost(
  cost: StoredMoney | undefined,
  { price_match }: Pick<CallAttemptDocument, 'price_match'>,
): Schemas['CallCost'] {
  if (cost === undefined) return null;
  return { ...showMoney(fromStored(cost)), ...defined({ price_match }) };
}

function split(tag: string): [string, string] {
  const end = tag.indexOf('=');
  return [tag.slice(0, end), tag.slice(end + 1)];
}
