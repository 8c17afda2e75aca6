import { createContext, use } from 'react';
import type { PlacedMistake } from '../../../shared/form-problem.ts';

/** What the service refused when the form was sent. */
export interface ServiceMistakes {
  readonly mistakes: readonly PlacedMistake[];
}

/** The mistakes that the service found in the prompt that is edited. */
export const ServiceMistakesContext: React.Context<ServiceMistakes> = createContext<ServiceMistakes>({ mistakes: [] });

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
