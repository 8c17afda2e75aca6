import { SegmentedControl } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFilters } from './filters.tsx';
import { useTexts } from './texts.tsx';

/** How far back statistics go. */
export type Span = 'hour' | 'day';

/** Switches between the last hour and the last day. The choice stands in the address; the hour is the default. */
export function SpanSwitch({ search }: { search: { span?: Span } }): ReactNode {
  const { span: texts } = useTexts().shared;
  const filters = useFilters(search);
  return (
    <SegmentedControl
      size="xs"
      w="fit-content"
      aria-label={texts.label}
      value={search.span ?? 'hour'}
      onChange={(value) => {
        filters.set('span', value === 'hour' ? undefined : value);
      }}
      data={(['hour', 'day'] as const).map((value) => ({ value, label: texts.values[value] }))}
    />
  );
}
