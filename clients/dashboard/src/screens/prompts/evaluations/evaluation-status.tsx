import type { ReactNode } from 'react';
import { StatusBadge, type Tone } from '../../../shared/status-badge.tsx';
import { useOwnTexts } from '../../../shared/texts.tsx';
import { evaluations } from '../../../texts/evaluations.ts';
import type { Evaluation } from './queries.ts';

const tones: Readonly<Record<string, Tone>> = {
  planning: 'info',
  queued: 'info',
  running: 'info',
  canceled: 'neutral',
  refused: 'danger',
  passed: 'ok',
  failed: 'danger',
  inconclusive: 'warning',
};

/** The verdict; without one the status. */
export function EvaluationStatus({ evaluation: { status, verdict } }: { evaluation: Evaluation }): ReactNode {
  const texts = useOwnTexts(evaluations);
  const shown = verdict?.outcome ?? status;
  return (
    <StatusBadge tone={tones[shown] ?? 'neutral'}>
      {texts.verdicts[shown] ?? texts.statuses[shown] ?? shown}
    </StatusBadge>
  );
}
