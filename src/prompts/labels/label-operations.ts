import { requireUnchanged } from '../../base/editing/read-only-fields.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { answerPage } from '../../http/list-answer.ts';
import { requireOverride } from './require-override.ts';
import { showLabel, showMove } from './label.ts';
import { labelExpectation, labelTag } from './entity-tag.ts';
import type { LabelPrecondition, Labels } from './labels.ts';

type LabelOperations = Pick<
  OperationHandlers,
  'listLabels' | 'getLabel' | 'setLabel' | 'deleteLabel' | 'listLabelMoves'
>;

/** The contract's operations on labels. */
export function labelOperations(labels: Labels): LabelOperations {
  return {
    listLabels(input) {
      return answerPage(input, () => labels.list(input.path.slugOrId), showLabel);
    },
    async getLabel({ path }) {
      const found = await labels.get(path.slugOrId, path.label);
      return { status: 200, headers: { ETag: labelTag(found) }, body: showLabel(found.label) };
    },
    async setLabel({ path: { slugOrId, label: name }, headers, body, context }) {
      context.note({ prompt: slugOrId, label: name, version: body.version });
      const { version, accept_warnings: acceptsWarnings = false, override, warnings: _, ...others } = body;
      if (override !== undefined) requireOverride(context.principal);
      const isExpected = labelExpectation(name, headers);
      const precondition: LabelPrecondition = (present) => {
        isExpected(present);
        requireUnchanged(others, present === undefined ? { name } : showLabel(present.label));
      };
      const target = { name, version, acceptsWarnings, override };
      const { isNew, warnings, ...found } = await labels.set(slugOrId, target, precondition, context);
      context.note({ prompt: found.promptId });
      const shown = { ...showLabel(found.label), ...(warnings.length > 0 && { warnings: [...warnings] }) };
      const answer = { headers: { ETag: labelTag(found) }, body: shown };
      if (!isNew) return { status: 200, ...answer };
      const Location = `/api/v1/prompts/${found.promptId}/labels/${name}`;
      return { status: 201, ...answer, headers: { ...answer.headers, Location } };
    },
    async deleteLabel({ path, headers, context }) {
      context.note({ prompt: path.slugOrId, label: path.label });
      await labels.remove(path.slugOrId, path.label, labelExpectation(path.label, headers), context);
      return { status: 200, body: { ok: true } };
    },
    listLabelMoves(input) {
      const { slugOrId, label } = input.path;
      return answerPage(input, () => labels.listMoves(slugOrId, label), showMove);
    },
  };
}
