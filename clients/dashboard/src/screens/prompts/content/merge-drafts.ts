import { merge, type Merged } from '../../../shared/merge.ts';
import { sameDraft, type PromptDraft } from './prompt-draft.ts';

/** Merges two changes of a prompt: by field, by section of its generation, and by parameter. */
export function mergeDrafts(base: PromptDraft, mine: PromptDraft, theirs: PromptDraft): Merged<PromptDraft> {
  const [first, one, other] = [partsOf(base), partsOf(mine), partsOf(theirs)];
  const fields = merge(first.fields, one.fields, other.fields, sameDraft);
  const sections = merge(first.sections, one.sections, other.sections, sameDraft);
  const parameters = merge(first.parameters, one.parameters, other.parameters, sameDraft);
  const join = (side: 'mine' | 'theirs'): PromptDraft => {
    const { target, ...others } = fields[side];
    return { ...others, ...target, generation: { parameters: parameters[side], ...sections[side] } };
  };
  return { mine: join('mine'), theirs: join('theirs') };
}

/** A model belongs to its provider. */
function partsOf({ provider, model, generation, ...others }: PromptDraft) {
  const { parameters = {}, ...sections } = generation;
  return { fields: { ...others, target: { provider, model } }, sections, parameters: parameters as object };
}
