import { requireCases } from '../../base/limits/cases.ts';
import { authorOf } from '../../base/limits/principal.ts';
import type { operations } from '../../../generated/types.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { createAnswersInParts } from '../../http/answer-in-parts.ts';
import { answerPage } from '../../http/list-answer.ts';
import type { OperationHandlers, RequestContext } from '../../http/operation.ts';
import { dayMs } from '../../base/runtime/intervals.ts';
import { toInstant } from '../../base/runtime/instants.ts';
import { createTurns } from '../../base/runtime/turns.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Statistics } from '../statistics/statistics.ts';
import type { ContentStore } from './content-store.ts';
import type { Feedback, FeedbackStore } from './feedback-store.ts';
import type { InvocationDocument, InvocationFilter } from './invocation.ts';
import type { KeptContents } from './kept-contents.ts';
import type { PromptIds } from './prompt-ids.ts';
import { toFeedback, toInvocation, toInvocationWithFeedback } from './invocation-representation.ts';
import type { InvocationStore } from './invocation-store.ts';

type InvocationOperations = Pick<
  OperationHandlers,
  | 'listInvocations'
  | 'getInvocation'
  | 'exportInvocations'
  | 'getInvocationContent'
  | 'deleteInvocationContent'
  | 'createInvocationFeedback'
>;
type Query = NonNullable<operations['exportInvocations']['parameters']['query']>;

export interface InvocationOperationsDependencies {
  readonly store: Pick<InvocationStore, 'list' | 'walk' | 'eraseTags'>;
  readonly contents: Pick<ContentStore, 'erase'>;
  readonly kept: KeptContents;
  readonly copies: ContentCopies;
  readonly feedback: FeedbackStore;
  readonly statistics: Pick<Statistics, 'rated'>;
  readonly clock: Pick<Clock, 'now'>;
  /** How long records, and feedback on them, are kept, in milliseconds. */
  readonly retentionMs: number;
  readonly prompts: Pick<PromptIds, 'recordedId'>;
  /** Stores the records of this process that are not stored yet, so that a caller finds what it has just done. */
  readonly flush: () => Promise<void>;
}

/** What was made of the contents of invocations, and stays longer than they do. */
export interface ContentCopies {
  /** Whether something was made of that of an invocation. */
  has(id: string): Promise<boolean>;
  /** Makes all of it unreadable. It can be repeated. */
  erase(id: string, at: Date): Promise<void>;
}

export function invocationOperations({
  store,
  contents,
  kept,
  copies,
  feedback,
  statistics,
  prompts,
  clock,
  retentionMs,
  flush,
}: InvocationOperationsDependencies): InvocationOperations {
  const toFilter = async (query: Query, { principal: { reach } }: RequestContext): Promise<InvocationFilter> => {
    const { since, until, prompt, author_id: authorId, version, label, provider, model, status, problem, tag } = query;
    const { request_id: requestId, refused_by: refusedBy, evaluation_id: evaluationId } = query;
    const { canary_id: canary, arm } = query;
    const { attempt_provider: attemptProvider, attempt_problem: attemptProblem, attempt_model: attemptModel } = query;
    const { attempt_status: attemptStatus, attempt_cost: attemptCost, cached } = query;
    const promptId = prompt === undefined ? undefined : await prompts.recordedId(prompt, reach);
    return {
      since: toInstant(since),
      until: toInstant(until),
      promptId,
      promptIds: promptId === undefined ? reach?.prompts : undefined,
      ...{ authorId, version, label, provider, model, status, problem, tag, requestId, refusedBy, evaluationId },
      ...{ canary, arm, attemptProvider, attemptProblem, attemptModel, attemptStatus, attemptCost, cached },
    };
  };
  const find = (id: string, { principal: { reach } }: RequestContext): Promise<InvocationDocument> =>
    kept.find(id, reach);
  /** The log forgets an invocation, what was made of it stays. Then nobody knows of which prompt it was. */
  const requireErasable = async (id: string, context: RequestContext): Promise<void> => {
    try {
      await find(id, context);
    } catch (error) {
      const isForgotten = error instanceof ProblemError && error.type === 'invocation-not-found';
      const isLimited = context.principal.reach?.prompts !== undefined;
      if (!isForgotten || isLimited || !(await copies.has(id))) throw error;
    }
  };
  const answerExport = createAnswersInParts('application/jsonl');
  const turns = createTurns();
  const toText = async (documents: readonly InvocationDocument[]): Promise<Buffer> => {
    let text = '';
    for (const document of documents) {
      await turns();
      text += `${JSON.stringify(toInvocation(document))}\n`;
    }
    return Buffer.from(text);
  };
  const toLines = async function* (batches: AsyncIterable<InvocationDocument[]>): AsyncGenerator<Uint8Array> {
    for await (const batch of batches) {
      // The batch is emptied: its documents take many times as much memory, and the caller may not take their text.
      const text = await toText(batch.splice(0));
      if (text.length > 0) yield text;
    }
  };
  return {
    listInvocations: (input) =>
      answerPage(
        input,
        async () => {
          const [filter] = await Promise.all([toFilter(input.query, input.context), flush()]);
          return store.list(filter);
        },
        toInvocation,
      ),
    async getInvocation({ path: { id }, context }) {
      const found = await find(id, context);
      return { status: 200, body: toInvocationWithFeedback(found, await feedback.of(id)) };
    },
    async getInvocationContent({ path: { id }, context }) {
      const { evaluation_id: evaluation } = await find(id, context);
      // It contains the case.
      if (evaluation !== undefined) requireCases(context.principal);
      const body = await kept.read(id);
      await kept.recordAccess([id], context);
      return { status: 200, body };
    },
    async deleteInvocationContent({ path: { id }, context }) {
      await requireErasable(id, context);
      const at = clock.now();
      // First, so that nothing is erased without it. The documents that are changed have no place for it.
      await kept.recordAccess([id], context);
      await contents.erase(id, at);
      // After the content, so that nothing new is made of it in between.
      await copies.erase(id, at);
      await Promise.all([store.eraseTags(id), feedback.eraseComments(id)]);
      return { status: 200, body: { ok: true } };
    },
    async createInvocationFeedback({ path, body: { score, name, comment }, context }) {
      const { resourceId: id, principal } = context;
      const { prompt_id: prompt, prompt_version: version, created_at: invokedAt } = await find(path.id, context);
      const given: Feedback = {
        ...{ id, invocationId: path.id, score, name, comment },
        author: authorOf(principal),
        createdAt: clock.now(),
        expiresAt: new Date(invokedAt.getTime() + retentionMs + dayMs),
      };
      const isNew = await feedback.insert(given);
      if (isNew && prompt !== undefined) statistics.rated(prompt, version, score);
      const stored = isNew ? given : ((await feedback.find(id)) ?? given);
      return { status: 201, headers: { Location: `/api/v1/invocations/${path.id}` }, body: toFeedback(stored) };
    },
    async exportInvocations({ query: { after, ...query }, context }) {
      const [filter] = await Promise.all([toFilter(query, context), flush()]);
      return await answerExport(() => toLines(store.walk(filter, after)), context);
    },
  };
}
