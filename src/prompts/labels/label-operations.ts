import { ProblemError } from '../../base/errors/problem-error.ts';
import { ifMatch } from '../../http/conditional.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { answerPage } from '../../http/list-answer.ts';
import { showLabel, showMove } from './label.ts';
import type { FoundLabel, LabelPrecondition, Labels } from './labels.ts';

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
      return { status: 200, headers: { ETag: tagOf(found) }, body: showLabel(found.label) };
    },
    async setLabel({ path: { slugOrId, label: name }, headers, body, context }) {
      context.note({ prompt: slugOrId, label: name, version: body.version });
      const target = { name, version: body.version };
      const { isNew, ...found } = await labels.set(slugOrId, target, expectation(headers), context);
      context.note({ prompt: found.promptId });
      const answer = { headers: { ETag: tagOf(found) }, body: showLabel(found.label) };
      if (!isNew) return { status: 200, ...answer };
      const Location = `/api/v1/prompts/${found.promptId}/labels/${name}`;
      return { status: 201, ...answer, headers: { ...answer.headers, Location } };
    },
    async deleteLabel({ path, headers, context }) {
      context.note({ prompt: path.slugOrId, label: path.label });
      await labels.remove(path.slugOrId, path.label, expectation(headers), context);
      return { status: 200, body: { ok: true } };
    },
    listLabelMoves(input) {
      const { slugOrId, label } = input.path;
      return answerPage(input, () => labels.listMoves(slugOrId, label), showMove);
    },
  };
}

/** Changes by each move, and never repeats: the moves of a label are numbered, also over deletions. */
function tagOf({ promptId, label }: FoundLabel): string {
  return `"${promptId}.${label.name}.${label.sequence}"`;
}

/** What `If-Match` and `If-None-Match: *` expect of a label. One that exists cannot be changed without `If-Match`. */
function expectation(headers: { 'If-Match'?: string; 'If-None-Match'?: string }): LabelPrecondition {
  return (present) => {
    const expected = headers['If-Match'];
    if (present === undefined) {
      if (expected !== undefined) throw failed('There is no such label, and the request has If-Match.');
      return;
    }
    const { name } = present.label;
    if (headers['If-None-Match'] !== undefined) throw failed(`The label "${name}" exists.`);
    if (expected === undefined) {
      throw new ProblemError('precondition-required', {
        detail: `The label "${name}" exists: send its ETag as If-Match.`,
        errors: [{ detail: 'is required', header: 'If-Match' }],
      });
    }
    if (!ifMatch(expected, tagOf(present))) {
      throw failed(`The label "${name}" has been moved: If-Match does not match its current ETag.`);
    }
  };
}

function failed(detail: string): ProblemError {
  return new ProblemError('precondition-failed', { detail });
}
