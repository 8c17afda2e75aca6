import type { FilterField } from './filters.tsx';
import { useTexts } from './texts.tsx';

/** The filter that says whether a list has archived entries. If it is not set, it has none. */
export function useArchivedFilter(): FilterField<{ archived?: 'include' | 'only' }> {
  const { archive: texts } = useTexts().shared;
  return {
    name: 'archived',
    label: texts.filter,
    none: texts.exclude,
    options: [
      { value: 'include', label: texts.include },
      { value: 'only', label: texts.only },
    ],
  };
}
