import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Filters } from './filters.tsx';
import { useTexts } from './texts.tsx';

/** Whether a list has archived entries. Without a choice, it has none. */
export function ArchivedFilter<Search extends { archived?: 'include' | 'only' }>({
  filters,
}: {
  filters: Filters<Search>;
}): ReactNode {
  const { archive: texts } = useTexts().shared;
  return (
    <NativeSelect
      size="xs"
      label={texts.filter}
      data={[
        { value: '', label: texts.exclude },
        { value: 'include', label: texts.include },
        { value: 'only', label: texts.only },
      ]}
      value={filters.values.archived ?? ''}
      onChange={(event) => {
        filters.set('archived', event.currentTarget.value);
      }}
    />
  );
}
