import type { ReactNode } from 'react';
import { StatusBadge } from '../../shared/status-badge.tsx';
import { useTexts } from '../../shared/texts.tsx';

/** Whether a location accepts orders. */
export function LocationStatus({ archived }: { archived: boolean }): ReactNode {
  const { locations: texts } = useTexts();
  return <StatusBadge tone={archived ? 'neutral' : 'ok'}>{archived ? texts.archived : texts.active}</StatusBadge>;
}
