import type { components } from '../../../../generated/types.ts';
import { readTags } from '../../../accounting/invocations/tags.ts';
import { requireUnchanged } from '../../../base/editing/read-only-fields.ts';
import { defined } from '../../../base/runtime/objects.ts';
import { ifMatch, preconditionRequired, requireConditions, type Conditions } from '../../../http/conditional.ts';
import { answerPage } from '../../../http/list-answer.ts';
import type { OperationHandlers } from '../../../http/operation.ts';
import { gateFields } from '../../labels/gate.ts';
import { releaseWarningList } from '../../labels/label.ts';
import type { FoundGate, GatePrecondition, GateSettings } from '../../labels/gate-settings.ts';
import { requireCases, type Reader } from '../../../base/limits/cases.ts';
import { showEvaluation } from '../runs/evaluation.ts';
import type { Comparison } from './comparisons.ts';
import type { Gates } from './gates.ts';

type Schemas = components['schemas'];
type GateOperations = Pick<
  OperationHandlers,
  'listGates' | 'getGate' | 'setGate' | 'deleteGate' | 'getGateVersion' | 'createGateEvaluation'
>;

/** The contract's operations on gates of labels. */
export function gateOperations(settings: GateSettings, gates: Gates): GateOperations {
  return {
    listGates(input) {
      return answerPage(input, () => settings.list(input.path.slugOrId), gateFields.show);
    },
    async getGate({ path }) {
      const found = await settings.get(path.slugOrId, path.label);
      return { status: 200, headers: { ETag: tagOf(found) }, body: gateFields.show(found.gate) };
    },
    async setGate({ path: { slugOrId, label }, headers, body, context }) {
      requireCases(context.principal);
      context.note({ prompt: slugOrId, label });
      const isExpected = expectation(label, headers);
      const precondition: GatePrecondition = (present) => {
        isExpected(present);
        requireUnchanged(gateFields.others(body), present === undefined ? { label } : gateFields.show(present.gate));
      };
      const rules = { check: gates.checkFor(context.principal.reach), precondition };
      const sent = gateFields.readNew(body);
      const { isNew, ...found } = await settings.set(slugOrId, label, sent, rules, context);
      const answer = { headers: { ETag: tagOf(found) }, body: gateFields.show(found.gate) };
      if (!isNew) return { status: 200, ...answer };
      const Location = `/api/v1/prompts/${found.promptId}/labels/${label}/gate`;
      return { status: 201, ...answer, headers: { ...answer.headers, Location } };
    },
    async deleteGate({ path: { slugOrId, label }, headers, context }) {
      context.note({ prompt: slugOrId, label });
      await settings.remove(slugOrId, label, expectation(label, headers), context);
      return { status: 200, body: { ok: true } };
    },
    async getGateVersion({ path: { slugOrId, label, version }, context }) {
      const { reasons, comparisons, changes } = await gates.version(slugOrId, label, version);
      return {
        status: 200,
        body: {
          version,
          releasable: reasons.length === 0,
          ...(reasons.length > 0 && { reasons: [...reasons] }),
          ...(changes.length > 0 && { warnings: releaseWarningList.show(changes) }),
          comparisons: comparisons.map((one) => showComparison(one, context.principal)),
        },
      };
    },
    async createGateEvaluation({ path: { slugOrId, label }, headers, body, context }) {
      const { version, against = 'label' } = body;
      context.note({ prompt: slugOrId, label, version });
      const tags = readTags(context.principal.tags, headers['X-Tags']);
      const isRepeatable = headers['Idempotency-Key'] !== undefined;
      const evaluation = await gates.evaluate(slugOrId, label, { version, against, tags }, context, isRepeatable);
      const Location = `/api/v1/evaluations/${evaluation.id}`;
      return { status: 202, headers: { Location }, body: showEvaluation(evaluation, context.principal) };
    },
  };
}

function showComparison(comparison: Comparison, reader: Reader): Schemas['GatedVersion']['comparisons'][number] {
  const { against, rule, baseline, status, verdict, isEvaluable, counted, trials } = comparison;
  return {
    ...defined({ against, rule, baseline: baseline?.version, status, verdict }),
    evaluable: isEvaluable,
    evaluations: trials.map(({ evaluation, stale }) => ({
      evaluation: showEvaluation(evaluation, reader),
      counts: counted.includes(evaluation),
      ...(stale.length > 0 && { stale: [...stale] }),
    })),
  };
}

/** Changes by each change, and never repeats. */
function tagOf({ promptId, gate }: FoundGate): string {
  return `"${promptId}.${gate.label}.${gate.tag}"`;
}

/** What the request expects of a gate. One that exists cannot be changed without `If-Match`. */
function expectation(label: string, conditions: Conditions): GatePrecondition {
  return (present) => {
    const what = `gate of the label "${label}"`;
    requireConditions(conditions, what, present && ((field) => ifMatch(field, tagOf(present))));
    if (present !== undefined && conditions['If-Match'] === undefined) {
      throw preconditionRequired(`The ${what} exists: send its ETag as If-Match.`);
    }
  };
}
