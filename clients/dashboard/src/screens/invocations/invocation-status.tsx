import type { ReactNode } from 'react';
import { StatusBadge, type Tone } from '../../shared/status-badge.tsx';
import { useTexts } from '../../shared/texts.tsx';

const tones: Record<string, Tone> = {
  succeeded: 'ok',
  failed: 'danger',
  canceled: 'neutral',
  interrupted: 'warning',
};

/** How an invocation, or a call of it, ended. */
export function InvocationStatus({ status }: { status: string }): ReactNode {
  const { statuses } = useTexts().invocations;
  return (
    <StatusBadge tone={tones[status] ?? 'neutral'}>
      {(statuses as Record<string, string>)[status] ?? status}
    </StatusBadge>
  );
}
