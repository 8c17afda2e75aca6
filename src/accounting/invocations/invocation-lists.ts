import type { CollectionIndexes } from '../../storage/db/indexes.ts';
import type { Source } from '../../storage/db/pages.ts';
import { toStoredStatus, type InvocationDocument, type InvocationFilter } from './invocation.ts';

/**
 * The indexes of a day. On a server that fetches whatever matches, every index costs more at each insertion, so it has
 * few.
 */
export const dayIndexes: Required<Omit<CollectionIndexes, 'collection'>> = {
  indexes: [
    { key: { created_at: -1, _id: 1 }, name: 'created_at_-1__id_1' },
    { key: { 'author.id': 1, created_at: -1, _id: 1 }, name: 'author.id_1_created_at_-1__id_1' },
    {
      key: { prompt_id: 1, created_at: -1, _id: 1 },
      name: 'prompt_id_1_created_at_-1__id_1',
      partialFilterExpression: { prompt_id: { $gt: '' } },
    },
    {
      key: { problem: 1, created_at: -1, _id: 1 },
      name: 'problem_1_created_at_-1__id_1',
      partialFilterExpression: { problem: { $gt: '' } },
    },
    {
      key: { refused_by: 1, created_at: -1, _id: 1 },
      name: 'refused_by_1_created_at_-1__id_1',
      partialFilterExpression: { refused_by: { $gt: '' } },
    },
    {
      key: { rollout_failure: 1 },
      name: 'rollout_failure_1',
      partialFilterExpression: { rollout_failure: { $gt: '' } },
    },
    {
      key: { evaluation_id: 1, created_at: -1, _id: 1 },
      name: 'evaluation_id_1_created_at_-1__id_1',
      partialFilterExpression: { evaluation_id: { $gt: '' } },
    },
  ],
  inOrder: [
    {
      key: { 'rollout.id': 1, 'rollout.arm': 1, 'rollout.outcome': 1, created_at: -1, _id: 1 },
      name: 'rollout.id_1_rollout.arm_1_rollout.outcome_1_created_at_-1__id_1',
      partialFilterExpression: { 'rollout.id': { $gt: '' } },
    },
    { key: { model: 1, created_at: -1, _id: 1 }, name: 'model_1_created_at_-1__id_1' },
    {
      key: { tags: 1, created_at: -1, _id: 1 },
      name: 'tags_1_created_at_-1__id_1',
      partialFilterExpression: { tags: { $gt: '' } },
    },
    {
      key: { 'attempts.problem': 1, created_at: -1, _id: 1 },
      name: 'attempts.problem_1_created_at_-1__id_1',
      partialFilterExpression: { 'attempts.problem': { $gt: '' } },
    },
    // On SecantusDB it would add an eighth to the CPU time of an insertion.
    { key: { request_id: 1, created_at: -1, _id: 1 }, name: 'request_id_1_created_at_-1__id_1' },
  ],
};

/** Fields of `indexes`, those first that have the fewest invocations. */
const selective = ['evaluation_id', 'refused_by', 'problem', 'prompt_id', 'author.id'] as const;

/** The invocations of a list in the collection of a day. */
export function invocationSource(
  collection: Source<InvocationDocument>['collection'],
  filter: InvocationFilter,
): Source<InvocationDocument> {
  const { since, until, promptIds, promptId, version, label, authorId, provider, model, status, problem, tag } = filter;
  const {
    requestId,
    refusedBy,
    evaluationId,
    attemptProvider,
    attemptProblem,
    attemptModel,
    attemptStatus,
    attemptCost,
  } = filter;
  const attempt = {
    ...(attemptProvider !== undefined && { provider: attemptProvider }),
    ...(attemptModel !== undefined && { model: attemptModel }),
    ...(attemptStatus !== undefined && { status: toStoredStatus(attemptStatus) }),
    ...(attemptProblem !== undefined && { problem: attemptProblem }),
    // Also if it is absent.
    ...(attemptCost !== undefined && { cost: null }),
  };
  const equal: Record<string, unknown> = {
    ...(evaluationId !== undefined && { evaluation_id: evaluationId }),
    ...(refusedBy !== undefined && { refused_by: refusedBy }),
    ...(problem !== undefined && { problem }),
    ...(promptId !== undefined && { prompt_id: promptId }),
    ...(authorId !== undefined && { 'author.id': authorId }),
    ...(requestId !== undefined && { request_id: requestId }),
    ...(tag !== undefined && { tags: tag }),
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(label !== undefined && { label }),
    ...(version !== undefined && { prompt_version: version }),
    ...(filter.canary !== undefined && { 'rollout.id': filter.canary }),
    ...(filter.arm !== undefined && { 'rollout.arm': filter.arm }),
    ...(filter.canaryOutcome !== undefined && { 'rollout.outcome': filter.canaryOutcome }),
    ...(status !== undefined && { status: toStoredStatus(status) }),
    ...(filter.cached !== undefined && { cached: filter.cached === 'only' }),
    ...(Object.keys(attempt).length > 0 && { attempts: { $elemMatch: attempt } }),
  };
  const indexed = selective.find((name) => name in equal);
  const { [indexed ?? '']: value, ...further } = equal;
  // Several conditions on one field must not replace each other.
  const conditions = [
    ...(Object.keys(further).length > 0 ? [further] : []),
    ...(promptIds === undefined ? [] : [{ prompt_id: { $in: [...promptIds] } }]),
  ];
  return {
    collection,
    where: indexed === undefined ? {} : { [indexed]: value },
    time: 'created_at',
    span: { since, until },
    rest: conditions.length > 1 ? { $and: conditions } : conditions[0],
  };
}
