import type { ReactNode } from 'react';
import { StatusBadge, type Tone } from '../../shared/status-badge.tsx';
import { useTexts } from '../../shared/texts.tsx';

const tones: Record<string, Tone> = { open: 'info', completed: 'ok', canceled: 'neutral' };

/** The status of an order. */
export function OrderStatus({ status }: { status: string }): ReactNode {
  const statuses: Record<string, string> = useTexts().orders.statuses;
  return <StatusBadge tone={tones[status] ?? 'neutral'}>{statuses[status] ?? status}</StatusBadge>;
}
