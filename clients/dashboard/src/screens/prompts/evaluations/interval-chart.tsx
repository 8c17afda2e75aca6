import type { ReactNode } from 'react';
import { useFormat, useOwnTexts } from '../../../shared/texts.tsx';
import { evaluations } from '../../../texts/evaluations.ts';
import classes from './evaluations.module.css';
import type { Evaluation } from './queries.ts';
import { rateOf, signedPoints } from './verdict-text.ts';

/** Where the difference or the rate is with 95 % confidence, and what it has to stay above. */
export function IntervalChart({ evaluation: { rule, verdict } }: { evaluation: Evaluation }): ReactNode {
  const { chart: texts } = useOwnTexts(evaluations).verdict;
  const format = useFormat();
  if (verdict === undefined) return null;
  const { lower, upper } = verdict.interval;
  const { not_worse_by: margin, min_pass_rate: rate } = rule;
  const limit = margin === undefined ? rate : -margin;
  if (limit === undefined) return null;
  const isDifference = margin !== undefined;
  const write = (share: number): string =>
    isDifference ? signedPoints(share, margin, format) : rateOf(share, limit, format);
  const scale = scaleOf([lower, upper, limit, ...(isDifference ? [0, margin] : [1])]);
  const place = (share: number): string => `${(100 * (share - scale.from)) / (scale.to - scale.from)}%`;
  const limitText = `${isDifference ? texts.margin : texts.needed} ${write(limit)}`;
  return (
    <svg
      className={classes.interval}
      role="img"
      data-outcome={verdict.outcome}
      aria-label={(isDifference ? texts.difference : texts.rate)(write(lower), write(upper), write(limit))}
    >
      <rect className={classes.tooLow} x="0" y="26" width={place(limit)} height="40" />
      <line className={classes.axis} x1="0" x2="100%" y1="66" y2="66" />
      {isDifference && (
        <>
          <line className={classes.zero} x1={place(0)} x2={place(0)} y1="26" y2="66" />
          <text x={place(0)} y="82" textAnchor="middle">
            0
          </text>
        </>
      )}
      <line className={classes.limit} x1={place(limit)} x2={place(limit)} y1="22" y2="66" />
      <text x={place(limit)} y="14" textAnchor="middle">
        {limitText}
      </text>
      <line className={classes.span} x1={place(lower)} x2={place(upper)} y1="46" y2="46" />
      {[lower, upper].map((end, index) => (
        <line key={index} className={classes.span} x1={place(end)} x2={place(end)} y1="39" y2="53" />
      ))}
      <text x={place(lower)} y="82" textAnchor="end" dx="-2">
        {isNear(lower, isDifference ? 0 : undefined, scale) ? '' : write(lower)}
      </text>
      <text x={place(upper)} y="82" textAnchor="start" dx="2">
        {isNear(upper, isDifference ? 0 : undefined, scale) ? '' : write(upper)}
      </text>
    </svg>
  );
}

interface Scale {
  readonly from: number;
  readonly to: number;
}

/** From the smallest to the largest of what is shown, with room for the numbers beside it. */
function scaleOf(values: readonly number[]): Scale {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = Math.max(0.001, most - least) * 0.22;
  return { from: least - room, to: most + room };
}

/** Whether the number below would meet that of another. */
function isNear(value: number, other: number | undefined, { from, to }: Scale): boolean {
  return other !== undefined && Math.abs(value - other) / (to - from) < 0.02;
}
