import { createContext, use } from 'react';
import { placedMistakes, type PlacedMistake } from '../../../shared/form-problem.ts';
import type { PromptDraft } from '../content/prompt-draft.ts';

/** What the service refused when the form was sent. */
export interface ServiceMistakes {
  readonly mistakes: readonly PlacedMistake[];
}

const none: ServiceMistakes = { mistakes: [] };

/** The mistakes that the service found in the prompt that is edited. */
export const ServiceMistakesContext: React.Context<ServiceMistakes> = createContext(none);

/** Members of the contract by the field of the draft that they come from. */
const fieldOf: Readonly<Record<string, keyof PromptDraft>> = {
  name: 'name',
  slug: 'slug',
  description: 'description',
  messages: 'messages',
  selected_provider: 'provider',
  selected_model: 'model',
  parameters: 'parameters',
  response_format: 'format',
  tools: 'tools',
  tool_choice: 'toolChoice',
  provider_options: 'providerOptions',
  fallbacks: 'fallbacks',
  retries: 'retries',
};

/**
 * The mistakes of fields that are still as they were sent; what was changed since may be right now.
 *
 * @param error why the draft `sent` was refused
 */
export function stillWrong(error: unknown, sent: PromptDraft | undefined, draft: PromptDraft): ServiceMistakes {
  const mistakes = placedMistakes(error);
  if (sent === undefined || mistakes.length === 0) return none;
  const left = mistakes.filter(({ place }) => {
    const field = fieldOf[place.split('.', 1)[0] ?? ''];
    return field !== undefined && sent[field] === draft[field];
  });
  return { mistakes: left };
}

/** Finds what the service says about a member of the prompt (`tools.0.parameters`) or a place within it. */
export function useServiceMistake(): (place: string) => string | undefined {
  const { mistakes } = use(ServiceMistakesContext);
  return (place) => {
    const found = mistakes.filter((mistake) => mistake.place === place || mistake.place.startsWith(`${place}.`));
    if (found.length === 0) return undefined;
    return found
      .slice(0, 3)
      .map((mistake) => [mistake.place.slice(place.length + 1), mistake.detail].filter(Boolean).join(': '))
      .join('; ');
  };
}
