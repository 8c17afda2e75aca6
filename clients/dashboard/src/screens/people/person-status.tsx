import type { ReactNode } from 'react';
import { StatusBadge } from '../../shared/status-badge.tsx';
import { useOwnTexts } from '../../shared/texts.tsx';
import { people } from '../../texts/people.ts';

/** Whether a person can sign in. */
export function PersonStatus({ disabled }: { disabled: boolean }): ReactNode {
  const { statuses } = useOwnTexts(people);
  return (
    <StatusBadge tone={disabled ? 'neutral' : 'ok'}>{disabled ? statuses.disabled : statuses.enabled}</StatusBadge>
  );
}
