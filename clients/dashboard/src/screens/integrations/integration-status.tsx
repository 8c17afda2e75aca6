import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { StatusBadge, type Tone } from '../../shared/status-badge.tsx';
import { useTexts } from '../../shared/texts.tsx';

type Shown = 'active' | 'failing' | 'retrying' | 'paused' | 'disabled';

const tones: Record<Shown, Tone> = {
  active: 'ok',
  failing: 'warning',
  retrying: 'danger',
  paused: 'neutral',
  disabled: 'danger',
};

/** The status of an integration together with its health: an active one can be failing. */
export function IntegrationStatus({ integration }: { integration: Schemas['Integration'] }): ReactNode {
  const { statuses } = useTexts().integrations;
  const shown = shownStatus(integration);
  return shown === undefined ? (
    <StatusBadge tone="neutral">{integration.status}</StatusBadge>
  ) : (
    <StatusBadge tone={tones[shown]}>{statuses[shown]}</StatusBadge>
  );
}

/** Undefined for a status of a later release. */
function shownStatus(integration: Schemas['Integration']): Shown | undefined {
  const { status, retrying_until, consecutive_failures } = integration;
  if (status !== 'active') return status === 'paused' || status === 'disabled' ? (status as Shown) : undefined;
  if (retrying_until !== undefined) return 'retrying';
  return consecutive_failures > 0 ? 'failing' : 'active';
}
