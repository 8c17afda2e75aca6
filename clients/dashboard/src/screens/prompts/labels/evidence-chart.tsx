import type { ReactNode } from 'react';
import { useFormat, useOwnTexts } from '../../../shared/texts.tsx';
import { canaries } from '../../../texts/canaries.ts';
import classes from './canaries.module.css';

/** From which evidence to which; what is beyond stands at the edge. */
const scale = { from: 0.01, to: 10_000 } as const;

/**
 * The evidence now, on a logarithmic scale beside 1 and the threshold. How it was before is not shown: the service keeps
 * counts, not their course.
 */
export function EvidenceChart({ evidence, threshold }: { evidence: number; threshold: number }): ReactNode {
  const { evidence: texts } = useOwnTexts(canaries);
  const format = useFormat();
  const value = format.number(evidence, { maximumSignificantDigits: 3 });
  const limit = format.number(threshold);
  const point = place(evidence);
  return (
    <svg
      className={classes.evidence}
      role="img"
      data-enough={evidence >= threshold}
      aria-label={texts.chart(value, limit)}
    >
      <rect
        className={classes.enough}
        x={`${place(threshold)}%`}
        y="18"
        width={`${100 - place(threshold)}%`}
        height="36"
      />
      <line className={classes.axis} x1="0" x2="100%" y1="54" y2="54" />
      <line className={classes.nothing} x1={`${place(1)}%`} x2={`${place(1)}%`} y1="18" y2="54" />
      <text x={`${place(1)}%`} y="69" textAnchor="middle">{`1 ${texts.nothing}`}</text>
      <line className={classes.limit} x1={`${place(threshold)}%`} x2={`${place(threshold)}%`} y1="14" y2="54" />
      <text x={`${place(threshold)}%`} y="69" textAnchor="middle">{`${limit} ${texts.back}`}</text>
      <line className={classes.value} x1={`${place(1)}%`} x2={`${point}%`} y1="36" y2="36" />
      <circle className={classes.point} cx={`${point}%`} cy="36" r="6" />
      <text x={`${point}%`} y="12" textAnchor={point < 5 ? 'start' : point > 95 ? 'end' : 'middle'} fontWeight={600}>
        {value}
      </text>
    </svg>
  );
}

/** In percent of the width, so far from the edge that a point is whole. */
function place(evidence: number): number {
  const part = Math.log10(evidence / scale.from) / Math.log10(scale.to / scale.from);
  return 100 * Math.min(Math.max(part, 0.02), 0.98);
}
