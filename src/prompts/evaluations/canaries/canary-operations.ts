import type { OperationHandlers } from '../../../http/operation.ts';
import { requireOverride } from '../../labels/require-override.ts';
import { labelExpectation, labelTag } from '../../labels/entity-tag.ts';
import { showRollout } from './canary.ts';
import type { FoundRollout, Rollouts } from './canaries.ts';

type RolloutOperations = Pick<OperationHandlers, 'getRollout' | 'setRollout' | 'deleteRollout' | 'promoteRollout'>;

/** The contract's operations on rollouts. */
export function rolloutOperations(rollouts: Rollouts): RolloutOperations {
  return {
    async getRollout({ path }) {
      const found = await rollouts.get(path.slugOrId, path.label);
      return { status: 200, headers: { ETag: labelTag(found) }, body: show(found) };
    },
    async setRollout({ path: { slugOrId, label }, headers, body, context }) {
      const { version, share, hours, promote, accept_warnings: acceptsWarnings = false, override } = body;
      if (override !== undefined) requireOverride(context.principal);
      context.note({ prompt: slugOrId, label, version });
      const target = { version, share, hours, minRequests: promote?.min_requests, acceptsWarnings, override };
      const found = await rollouts.set(slugOrId, label, target, labelExpectation(label, headers), context);
      const { isNew, warnings } = found;
      const shown = { ...show(found), ...(warnings.length > 0 && { warnings: [...warnings] }) };
      const answer = { headers: { ETag: labelTag(found) }, body: shown };
      if (!isNew) return { status: 200, ...answer };
      const Location = `/api/v1/prompts/${found.promptId}/labels/${label}/rollout`;
      return { status: 201, ...answer, headers: { ...answer.headers, Location } };
    },
    async deleteRollout({ path: { slugOrId, label }, headers, context }) {
      context.note({ prompt: slugOrId, label });
      await rollouts.end(slugOrId, label, 'stopped', labelExpectation(label, headers), context);
      return { status: 200, body: { ok: true } };
    },
    async promoteRollout({ path: { slugOrId, label }, headers, context }) {
      context.note({ prompt: slugOrId, label });
      const expected = labelExpectation(label, headers);
      const found = await rollouts.end(slugOrId, label, 'promoted', expected, context);
      return { status: 200, headers: { ETag: labelTag(found) }, body: show(found) };
    },
  };
}

function show({ rollout, counts }: FoundRollout): ReturnType<typeof showRollout> {
  return showRollout(rollout, counts);
}
