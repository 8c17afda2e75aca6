import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { StatusBadge } from '../../shared/status-badge.tsx';
import { useTexts } from '../../shared/texts.tsx';

/** Whether a provider can be called, and whether it answers. */
export function ProviderBadge({ provider: { configured, health } }: { provider: Schemas['Provider'] }): ReactNode {
  const { providers: texts } = useTexts();
  if (!configured) return <StatusBadge tone="neutral">{texts.notConfigured}</StatusBadge>;
  if (health?.status === 'failing') return <StatusBadge tone="danger">{texts.health.failing}</StatusBadge>;
  if (health?.status === 'ok') return <StatusBadge tone="ok">{texts.health.ok}</StatusBadge>;
  return <StatusBadge tone="neutral">{texts.configured}</StatusBadge>;
}
