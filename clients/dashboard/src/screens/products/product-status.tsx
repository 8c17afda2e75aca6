import type { ReactNode } from 'react';
import { StatusBadge } from '../../shared/status-badge.tsx';
import { useTexts } from '../../shared/texts.tsx';

/** Whether a product can be ordered. */
export function ProductStatus({ active, archived }: { active: boolean; archived: boolean }): ReactNode {
  const { statuses: texts } = useTexts().products;
  if (archived) return <StatusBadge tone="neutral">{texts.archived}</StatusBadge>;
  return <StatusBadge tone={active ? 'ok' : 'warning'}>{active ? texts.active : texts.inactive}</StatusBadge>;
}
