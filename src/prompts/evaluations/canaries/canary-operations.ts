import type { OperationHandlers } from '../../../http/operation.ts';
import { requireOverride } from '../../labels/require-override.ts';
import { labelExpectation, labelTag } from '../../labels/entity-tag.ts';
import { showCanary } from './canary.ts';
import type { FoundCanary, Canaries } from './canaries.ts';

type CanaryOperations = Pick<OperationHandlers, 'getCanary' | 'setCanary' | 'deleteCanary' | 'promoteCanary'>;

/** The contract's operations on canaries. */
export function canaryOperations(canaries: Canaries): CanaryOperations {
  return {
    async getCanary({ path }) {
      const found = await canaries.get(path.slugOrId, path.label);
      return { status: 200, headers: { ETag: labelTag(found) }, body: show(found) };
    },
    async setCanary({ path: { slugOrId, label }, headers, body, context }) {
      const { version, share, hours, promote, accept_warnings: acceptsWarnings = false, override } = body;
      if (override !== undefined) requireOverride(context.principal);
      context.note({ prompt: slugOrId, label, version });
      const target = { version, share, hours, minRequests: promote?.min_requests, acceptsWarnings, override };
      const found = await canaries.set(slugOrId, label, target, labelExpectation(label, headers), context);
      const { isNew, warnings } = found;
      const shown = { ...show(found), ...(warnings.length > 0 && { warnings: [...warnings] }) };
      const answer = { headers: { ETag: labelTag(found) }, body: shown };
      if (!isNew) return { status: 200, ...answer };
      const Location = `/api/v1/prompts/${found.promptId}/labels/${label}/canary`;
      return { status: 201, ...answer, headers: { ...answer.headers, Location } };
    },
    async deleteCanary({ path: { slugOrId, label }, headers, context }) {
      context.note({ prompt: slugOrId, label });
      await canaries.end(slugOrId, label, 'stopped', labelExpectation(label, headers), context);
      return { status: 200, body: { ok: true } };
    },
    async promoteCanary({ path: { slugOrId, label }, headers, context }) {
      context.note({ prompt: slugOrId, label });
      const expected = labelExpectation(label, headers);
      const found = await canaries.end(slugOrId, label, 'promoted', expected, context);
      return { status: 200, headers: { ETag: labelTag(found) }, body: show(found) };
    },
  };
}

function show({ canary, counts }: FoundCanary): ReturnType<typeof showCanary> {
  return showCanary(canary, counts);
}
