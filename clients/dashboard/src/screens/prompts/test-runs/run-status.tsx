import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { StatusBadge, type Tone } from '../../../shared/status-badge.tsx';
import { useTexts } from '../../../shared/texts.tsx';

const tones: Readonly<Record<string, Tone>> = { running: 'info', done: 'ok', failed: 'danger', interrupted: 'warning' };

/** The status of a test run, and how many of its calls were answered if not all were. */
export function RunStatus({ run }: { run: Schemas['TestRun'] }): ReactNode {
  const { statuses, answered } = useTexts().prompts.testRuns;
  const { status, answered_count, providers } = run;
  if (answered_count !== undefined && answered_count < providers.length) {
    const tone = answered_count === 0 ? 'danger' : 'warning';
    return <StatusBadge tone={tone}>{answered(answered_count, providers.length)}</StatusBadge>;
  }
  return <StatusBadge tone={tones[status] ?? 'neutral'}>{statuses[status] ?? status}</StatusBadge>;
}
