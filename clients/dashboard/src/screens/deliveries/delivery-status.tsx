import type { ReactNode } from 'react';
import { StatusBadge, type Tone } from '../../shared/status-badge.tsx';
import { useTexts } from '../../shared/texts.tsx';

const tones: Record<string, Tone> = {
  pending: 'info',
  delivered: 'ok',
  failed: 'danger',
  held: 'warning',
  expired: 'neutral',
};

/** The status of a delivery. A pending one that has failed before is shown as a warning. */
export function DeliveryStatus({ status, hasFailed = false }: { status: string; hasFailed?: boolean }): ReactNode {
  const { statuses } = useTexts().deliveries;
  const tone = status === 'pending' && hasFailed ? 'warning' : (tones[status] ?? 'neutral');
  return <StatusBadge tone={tone}>{(statuses as Record<string, string>)[status] ?? status}</StatusBadge>;
}
