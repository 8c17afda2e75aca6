import type { components } from '../../../../generated/types.ts';
import { readTags } from '../../../accounting/invocations/tags.ts';
import { insufficientScope } from '../../../base/errors/insufficient-scope.ts';
import { revisionTag } from '../../../http/conditional.ts';
import { createExportAnswers } from '../../../http/export-answer.ts';
import { answerPage } from '../../../http/list-answer.ts';
import type { AuthenticatedPrincipal, OperationHandlers } from '../../../http/operation.ts';
import { guardedFields } from '../../prompt.ts';
import { totalCost } from '../../test-runs/test-run.ts';
import { evaluationFields, type Evaluation, type SentSide } from './evaluation.ts';
import type { Evaluations } from './evaluations.ts';
import type { Planned } from './plan-evaluation.ts';

type Schemas = components['schemas'];
type EvaluationOperations = Pick<
  OperationHandlers,
  'createEvaluation' | 'listEvaluations' | 'getEvaluation' | 'cancelEvaluation' | 'exportEvaluationResults'
>;

export function evaluationOperations(evaluations: Evaluations): EvaluationOperations {
  const answerExport = createExportAnswers();
  return {
    async createEvaluation({ path: { slugOrId }, headers, body, context }) {
      const { candidate, baseline, dataset, checks, rule, dry_run: isDry = false } = body;
      for (const side of [candidate, baseline]) requireScopeOf(side, context.principal);
      const tags = readTags(context.principal.tags, headers['X-Tags']);
      const request = { slugOrId, candidate, baseline, dataset, checks, rule, tags };
      if (isDry) return { status: 200, body: showPlan(await evaluations.plan(request, context)) };
      const isRepeatable = headers['Idempotency-Key'] !== undefined;
      const evaluation = await evaluations.create(request, context, isRepeatable);
      const { id, promptId, candidate: asked } = evaluation;
      context.note({ evaluation: id, prompt: promptId, version: asked.version });
      return { status: 202, headers: { Location: `/api/v1/evaluations/${id}` }, body: show(evaluation) };
    },
    listEvaluations(input) {
      const { path, query } = input;
      return answerPage(input, () => evaluations.list(path.slugOrId, query.status), show);
    },
    async getEvaluation({ path: { id } }) {
      const evaluation = await evaluations.get(id);
      return { status: 200, headers: { ETag: revisionTag(evaluation) }, body: show(evaluation) };
    },
    async cancelEvaluation({ path: { id }, context }) {
      return { status: 200, body: show(await evaluations.cancel(id, context)) };
    },
    async exportEvaluationResults({ path: { id }, query: { outcome }, context }) {
      return await answerExport(await evaluations.results(id, outcome, context.signal), context);
    },
  };
}

/** @throws {ProblemError} insufficient-scope */
function requireScopeOf(side: SentSide | undefined, { scopes }: AuthenticatedPrincipal): void {
  if (side === undefined || scopes.has('providers:invoke')) return;
  if (guardedFields.some((member) => side[member] !== undefined)) throw insufficientScope('providers:invoke');
}

function show(evaluation: Evaluation): Schemas['Evaluation'] {
  return evaluationFields.show(evaluation);
}

function showPlan({ calls, ceiling, mistakes }: Planned): Schemas['EvaluationPlan'] {
  return {
    calls,
    ceiling: totalCost.show(ceiling),
    ...(mistakes.length > 0 && { refusal: { mistakes: [...mistakes] } }),
  };
}
