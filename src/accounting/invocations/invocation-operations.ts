import { authorOf } from '../../base/limits/principal.ts';
import type { components, operations } from '../../../generated/types.ts';
import { auditEntry, type AuditedKind } from '../../access/audit/author.ts';
import type { AuditEntry } from '../../storage/db/audit.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { createExportAnswers } from '../../http/export-answer.ts';
import { answerPage } from '../../http/list-answer.ts';
import type { OperationHandlers, RequestContext } from '../../http/operation.ts';
import { mayReachPrompt } from '../../base/limits/reach.ts';
import { dayMs } from '../../base/runtime/intervals.ts';
import { toInstant } from '../../base/runtime/instants.ts';
import { createTurns } from '../../base/runtime/turns.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { SecretUnreadableError } from '../../base/secrets/secret-box.ts';
import type { Statistics } from '../statistics/statistics.ts';
import type { ContentStore } from './content-store.ts';
import type { Feedback, FeedbackStore } from './feedback-store.ts';
import type { InvocationDocument, InvocationFilter } from './invocation.ts';
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
  readonly store: Pick<InvocationStore, 'find' | 'list' | 'walk' | 'eraseTags'>;
  readonly contents: Pick<ContentStore, 'find' | 'erase'>;
  readonly feedback: FeedbackStore;
  readonly statistics: Pick<Statistics, 'rated'>;
  readonly clock: Pick<Clock, 'now'>;
  /** How long records, and feedback on them, are kept, in milliseconds. */
  readonly retentionMs: number;
  /** Writes a record of the audit log. */
  readonly recordAccess: (entry: AuditEntry) => Promise<void>;
  readonly prompts: Pick<PromptIds, 'recordedId'>;
  /** Stores the records of this process that are not stored yet, so that a caller finds what it has just done. */
  readonly flush: () => Promise<void>;
}

/** Nothing of what was asked and answered. */
const audited: AuditedKind<{ id: string }> = { type: 'invocation', show: () => ({}) };

export function invocationOperations({
  store,
  contents,
  feedback,
  statistics,
  prompts,
  clock,
  retentionMs,
  recordAccess,
  flush,
}: InvocationOperationsDependencies): InvocationOperations {
  const toFilter = async (query: Query, { principal: { reach } }: RequestContext): Promise<InvocationFilter> => {
    const { since, until, prompt, author_id: authorId, version, label, provider, model, status, problem, tag } = query;
    const { request_id: requestId, refused_by: refusedBy } = query;
    const { attempt_provider: attemptProvider, attempt_problem: attemptProblem, attempt_model: attemptModel } = query;
    const { attempt_status: attemptStatus, attempt_cost: attemptCost, cached } = query;
    const promptId = prompt === undefined ? undefined : await prompts.recordedId(prompt, reach);
    return {
      since: toInstant(since),
      until: toInstant(until),
      promptId,
      promptIds: promptId === undefined ? reach?.prompts : undefined,
      ...{ authorId, version, label, provider, model, status, problem, tag, requestId, refusedBy },
      ...{ attemptProvider, attemptProblem, attemptModel, attemptStatus, attemptCost, cached },
    };
  };
  const find = async (id: string, { principal: { reach } }: RequestContext): Promise<InvocationDocument> => {
    await flush();
    const found = await store.find(id);
    if (found !== undefined && mayReachPrompt(reach, found.prompt_id ?? '')) return found;
    throw new ProblemError('invocation-not-found', { detail: 'The invocation log has no record with this id.' });
  };
  const answerExport = createExportAnswers();
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
      await find(id, context);
      const content = await contents.find(id).catch((cause: unknown) => {
        if (!(cause instanceof SecretUnreadableError)) throw cause;
        const detail = 'The service cannot decrypt the content of this invocation. Its key is not in SECRETS_KEY.';
        throw new ProblemError('secret-unreadable', { detail, cause });
      });
      if (content === undefined) {
        throw new ProblemError('invocation-content-not-found', { detail: 'No content of this invocation is kept.' });
      }
      await recordAccess(auditEntry(context, audited, { at: clock.now(), after: { id } }));
      return { status: 200, body: JSON.parse(content) as components['schemas']['KeptContent'] };
    },
    async deleteInvocationContent({ path: { id }, context }) {
      await find(id, context);
      const at = clock.now();
      // First, so that nothing is erased without it. The documents that are changed have no place for it.
      await recordAccess(auditEntry(context, audited, { at, after: { id } }));
      await contents.erase(id, at);
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
      return await answerExport(toLines(store.walk(filter, after)), context);
    },
  };
}
