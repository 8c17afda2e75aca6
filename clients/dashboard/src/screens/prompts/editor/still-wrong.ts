import { placedMistakes } from '../../../shared/form-problem.ts';
import { createOf, sameDraft, type PromptDraft } from '../content/prompt-draft.ts';
import type { ServiceMistakes } from './service-mistakes.ts';

/**
 * The mistakes of members that are still as they were sent; what was changed since may be right now.
 *
 * @param error why the draft `sent` was refused
 */
export function stillWrong(error: unknown, sent: PromptDraft | undefined, draft: PromptDraft): ServiceMistakes {
  const mistakes = placedMistakes(error);
  if (sent === undefined || mistakes.length === 0) return { mistakes: [] };
  const [before, now] = [sent, draft].map((one) => new Map(Object.entries(createOf(one))));
  const left = mistakes.filter(({ place }) => {
    const [member = ''] = place.split('.', 1);
    return sameDraft(before?.get(member), now?.get(member));
  });
  return { mistakes: left };
}
