import type { ReactNode } from 'react';
import { StatusBadge, type Tone } from '../../shared/status-badge.tsx';
import { useTexts } from '../../shared/texts.tsx';

const tones: Record<string, Tone> = {
  pending: 'info',
  retrying: 'warning',
  delivered: 'ok',
  failed: 'danger',
  held: 'warning',
  expired: 'neutral',
};

/** The status of a delivery. */
export function DeliveryStatus({ status }: { status: string }): ReactNode {
  const { statuses } = useTexts().deliveries;
  return (
    <StatusBadge tone={tones[status] ?? 'neutral'}>
      {(statuses as Record<string, string>)[status] ?? status}
    </StatusBadge>
  );
}
