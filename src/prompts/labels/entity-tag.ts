import { ifMatch, preconditionRequired, requireConditions, type Conditions } from '../../http/conditional.ts';
import type { FoundLabel, LabelPrecondition } from './labels.ts';

/** Changes by each move, and never repeats: the moves of a label are numbered, also over deletions. */
export function labelTag({ promptId, label }: FoundLabel): string {
  return `"${promptId}.${label.name}.${label.sequence}"`;
}

/** What a request expects of a label. One that exists cannot be changed without `If-Match`. */
export function labelExpectation(name: string, conditions: Conditions): LabelPrecondition {
  return (present) => {
    requireConditions(conditions, `label "${name}"`, present && ((field) => ifMatch(field, labelTag(present))));
    if (present !== undefined && conditions['If-Match'] === undefined) {
      throw preconditionRequired(`The label "${name}" exists: send its ETag as If-Match.`);
    }
  };
}
