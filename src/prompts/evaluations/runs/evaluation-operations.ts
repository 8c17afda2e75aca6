import type { components } from '../../../../generated/types.ts';
import { readTags } from '../../../accounting/invocations/tags.ts';
import { insufficientScope } from '../../../base/errors/insufficient-scope.ts';
import { revisionTag } from '../../../http/conditional.ts';
import { createAnswersInParts } from '../../../http/answer-in-parts.ts';
import { answerPage } from '../../../http/list-answer.ts';
import type { AuthenticatedPrincipal, OperationHandlers } from '../../../http/operation.ts';
import { guardedFields } from '../../prompt.ts';
import { totalCost } from '../../test-runs/test-run.ts';
import { requireCases } from '../../../base/limits/cases.ts';
import { showEvaluation, type SentSide } from './evaluation.ts';
import type { Evaluations } from './evaluations.ts';
import type { Planned } from './plan-evaluation.ts';

type Schemas = components['schemas'];
type EvaluationOperations = Pick<
  OperationHandlers,
  'createEvaluation' | 'listEvaluations' | 'getEvaluation' | 'cancelEvaluation' | 'exportEvaluationResults'
>;

export function evaluationOperations(evaluations: Evaluations): EvaluationOperations {
  const answerExport = createAnswersInParts('application/jsonl');
  return {
    async createEvaluation({ path: { slugOrId }, headers, body, context }) {
      const { candidate, baseline, dataset, checks, rule, dry_run: isDry = false } = body;
      requireCases(context.principal);
      for (const side of [candidate, baseline]) requireScopeOf(side, context.principal);
      const tags = readTags(context.principal.tags, headers['X-Tags']);
      const request = { slugOrId, candidate, baseline, dataset, checks, rule, tags };
      if (isDry) return { status: 200, body: showPlan(await evaluations.plan(request, context)) };
      const isRepeatable = headers['Idempotency-Key'] !== undefined;
      const evaluation = await evaluations.create(request, context, isRepeatable);
      const { id, promptId, candidate: asked } = evaluation;
      context.note({ evaluation: id, prompt: promptId, version: asked.version });
      return {
        status: 202,
        headers: { Location: `/api/v1/evaluations/${id}` },
        body: showEvaluation(evaluation, context.principal),
      };
    },
    listEvaluations(input) {
      const { path, query, context } = input;
      return answerPage(
        input,
        () => evaluations.list(path.slugOrId, query.status),
        (one) => showEvaluation(one, context.principal),
      );
    },
    async getEvaluation({ path: { id }, context }) {
      const evaluation = await evaluations.get(id);
      return {
        status: 200,
        headers: { ETag: revisionTag(evaluation) },
        body: showEvaluation(evaluation, context.principal),
      };
    },
    async cancelEvaluation({ path: { id }, context }) {
      return { status: 200, body: showEvaluation(await evaluations.cancel(id, context), context.principal) };
    },
    async exportEvaluationResults({ path: { id }, query: { outcome }, context }) {
      requireCases(context.principal);
      const results = await evaluations.results(id, outcome, context.signal);
      return await answerExport(() => results, context);
    },
  };
}

/** @throws {ProblemError} insufficient-scope */
function requireScopeOf(side: SentSide | undefined, { scopes }: AuthenticatedPrincipal): void {
  if (side === undefined || scopes.has('providers:invoke')) return;
  if (guardedFields.some((member) => side[member] !== undefined)) throw insufficientScope('providers:invoke');
}

function showPlan({ calls, ceiling, mistakes }: Planned): Schemas['EvaluationPlan'] {
  return {
    calls,
    ceiling: totalCost.show(ceiling),
    ...(mistakes.length > 0 && { refusal: { mistakes: [...mistakes] } }),
  };
}
