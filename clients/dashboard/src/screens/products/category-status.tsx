import type { ReactNode } from 'react';
import { StatusBadge } from '../../shared/status-badge.tsx';
import { useTexts } from '../../shared/texts.tsx';

/** Whether products of a category can be ordered. */
export function CategoryStatus({ archived }: { archived: boolean }): ReactNode {
  const { statuses: texts } = useTexts().products.categories;
  return <StatusBadge tone={archived ? 'neutral' : 'ok'}>{archived ? texts.archived : texts.active}</StatusBadge>;
}
