import type { ReactNode } from 'react';
import { StatusBadge, type Tone } from '../../../shared/status-badge.tsx';
import { useTexts } from '../../../shared/texts.tsx';

const tones: Readonly<Record<string, Tone>> = { running: 'info', done: 'ok', failed: 'danger', interrupted: 'warning' };

/** The status of a test run. */
export function RunStatus({ status }: { status: string }): ReactNode {
  const { statuses } = useTexts().prompts.testRuns;
  return <StatusBadge tone={tones[status] ?? 'neutral'}>{statuses[status] ?? status}</StatusBadge>;
}
