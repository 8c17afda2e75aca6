import type { components } from '../../generated/types.ts';
import { fromStored, showMoney, type StoredMoney } from '../costs/money.ts';
import { toUsage } from '../generation/invocation-result.ts';
import type { Feedback } from './feedback-store.ts';
import type { AttemptDocument, InvocationDocument } from './invocation.ts';

type Schemas = components['schemas'];

/** The contract's representation of a record, member by member. */
export function toInvocation(document: InvocationDocument): Schemas['Invocation'] {
  const { prompt_id, prompt_slug, prompt_version, label, tags, trace_id, joined, provider, model } = document;
  const { problem, latency_ms, first_content_ms, finish_reason, usage } = document;
  const { assumed_max_output_tokens } = document;
  return {
    id: document._id,
    created_at: document.created_at.toISOString(),
    operation: document.operation,
    status: document.status,
    ...(problem !== undefined && { problem: `urn:prompt-gateway:problem:${problem}` }),
    key_id: document.key_id,
    key_name: document.key_name,
    ...(prompt_id !== undefined && { prompt_id }),
    ...(prompt_slug !== undefined && { prompt_slug }),
    ...(prompt_version !== undefined && { prompt_version }),
    ...(label !== undefined && { label }),
    ...(tags !== undefined && { tags: Object.fromEntries(tags.map(split)) }),
    request_id: document.request_id,
    ...(trace_id !== undefined && { trace_id }),
    streamed: document.streamed,
    cached: document.cached,
    ...(document.content_kept && { content_kept: true }),
    ...(joined !== undefined && { joined }),
    ...(assumed_max_output_tokens !== undefined && { assumed_max_output_tokens }),
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...(latency_ms !== undefined && { latency_ms }),
    ...(first_content_ms !== undefined && { first_content_ms }),
    ...(finish_reason !== undefined && { finish_reason }),
    ...(usage !== undefined && { usage: toUsage(usage) }),
    cost: toCost(document.cost),
    attempts: document.attempts.map(toAttempt),
  };
}

/** The same with the feedback on it. */
export function toInvocationWithFeedback(
  document: InvocationDocument,
  feedback: readonly Feedback[],
): Schemas['Invocation'] {
  return { ...toInvocation(document), ...(feedback.length > 0 && { feedback: feedback.map(toFeedback) }) };
}

/** The contract's representation of feedback, member by member. */
export function toFeedback({
  id,
  score,
  name,
  comment,
  keyId,
  keyName,
  createdAt,
}: Feedback): Schemas['InvocationFeedback'] {
  return {
    id,
    score,
    ...(name !== undefined && { name }),
    ...(comment !== undefined && { comment }),
    key_id: keyId,
    key_name: keyName,
    created_at: createdAt.toISOString(),
  };
}

function toAttempt(attempt: AttemptDocument): Schemas['InvocationAttempt'] {
  const { problem, provider_code, latency_ms, usage, usage_source: source, estimate, answer_model } = attempt;
  const { answer_id } = attempt;
  return {
    provider: attempt.provider,
    model: attempt.model,
    status: attempt.status,
    ...(problem !== undefined && { problem: `urn:prompt-gateway:problem:${problem}` }),
    ...(provider_code !== undefined && { provider_code }),
    started_at: attempt.started_at.toISOString(),
    ...(latency_ms !== undefined && { latency_ms }),
    ...(usage !== undefined && { usage: toUsage(usage) }),
    ...(source !== undefined && { usage_source: source === 'partial' ? 'estimated' : source }),
    cost: toAttemptCost(attempt),
    ...(estimate !== undefined && {
      estimate: { usage: toUsage(estimate.usage), cost: toCallCost(estimate.cost, attempt) },
    }),
    ...(answer_model !== undefined && { answer_model }),
    ...(answer_id !== undefined && { answer_id }),
  };
}

function toCost(cost: StoredMoney | undefined): Schemas['InvocationCost'] {
  return cost === undefined ? null : showMoney(fromStored(cost));
}

function toAttemptCost(attempt: AttemptDocument): Schemas['CallCost'] {
  const cost = toCallCost(attempt.cost, attempt);
  return cost === null || attempt.usage_source !== 'ceiling' ? cost : { ...cost, basis: 'ceiling' };
}

function toCallCost(
  cost: StoredMoney | undefined,
  { price_match }: Pick<AttemptDocument, 'price_match'>,
): Schemas['CallCost'] {
  if (cost === undefined) return null;
  return { ...showMoney(fromStored(cost)), ...(price_match !== undefined && { price_match }) };
}

function split(tag: string): [string, string] {
  const end = tag.indexOf('=');
  return [tag.slice(0, end), tag.slice(end + 1)];
}
