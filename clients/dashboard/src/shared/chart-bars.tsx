import { useState, type ReactNode } from 'react';
import classes from './chart-bars.module.css';

/** One part of each bar. */
export interface Series {
  /** Field of the points. */
  name: string;
  label: string;
  /** Colour of the theme, such as `accent.6`. */
  color: string;
}

/** Bars for some points, and the same as a table. */
export interface ChartProps {
  /** What the chart shows, for its heading and for screen readers. */
  label: string;
  /** Values, also of the summary at the right of the heading. */
  summary?: ReactNode;
  points: readonly Readonly<Record<string, string | number | null>>[];
  /** Field of the points along the axis. */
  x: string;
  series: readonly Series[];
  /** Names every bar, also if they have little room; otherwise some of many. */
  isEachNamed?: boolean;
  formatX?: (value: string) => string;
  formatY?: (value: number) => string;
  height?: number;
}

/** The most names below the bars. In a narrow chart it is half of them. */
const mostTicks = 8;
const gridLines = 4;

/** The bars, one for each point, with its values on top of each other. */
export function ChartBars({
  points,
  x,
  series,
  isEachNamed = false,
  formatX = String,
  formatY = String,
  height,
}: ChartProps): ReactNode {
  const [shown, setShown] = useState<number>();
  const totals = points.map((point) => series.reduce((sum, { name }) => sum + amount(point[name]), 0));
  const { top, steps } = scaleOf(Math.max(...totals));
  const share = (value: number): string => `${(100 * value) / top}%`;
  const every = isEachNamed ? 1 : Math.ceil(points.length / mostTicks);
  const ticks = points.flatMap((point, index) =>
    index % every === 0 ? [{ index, label: formatX(String(point[x])) }] : [],
  );
  const place = (index: number): string => `${(100 * (index + 0.5)) / points.length}%`;
  const pointed = shown === undefined ? undefined : points[shown];
  return (
    <div className={classes.chart} style={isEachNamed ? { minHeight: height } : { height }}>
      {series.length > 1 && (
        <ul className={classes.legend}>
          {series.map(({ name, label, color }) => (
            <li key={name}>
              <Dot color={color} />
              {label}
            </li>
          ))}
        </ul>
      )}
      <div className={classes.plot}>
        {steps.map((value) => (
          <div key={value} className={classes.line} style={{ bottom: share(value) }}>
            <span>{formatY(value)}</span>
          </div>
        ))}
        <div
          className={classes.bars}
          onPointerLeave={() => {
            setShown(undefined);
          }}
        >
          {points.map((point, index) => (
            <div
              key={index}
              className={classes.slot}
              onPointerEnter={() => {
                setShown(index);
              }}
            >
              {series.map(({ name, color }) => (
                <div
                  key={name}
                  data-bar={name}
                  style={{ height: share(amount(point[name])), background: cssColor(color) }}
                />
              ))}
            </div>
          ))}
        </div>
        {shown !== undefined && pointed !== undefined && (
          <div
            className={classes.values}
            style={
              shown < points.length / 2
                ? { insetInlineStart: place(shown) }
                : { insetInlineEnd: place(points.length - 1 - shown) }
            }
          >
            <strong>{formatX(String(pointed[x]))}</strong>
            {series.map(({ name, label, color }) => (
              <div key={name} className={classes.value}>
                <Dot color={color} />
                {label}
                <span>{pointed[name] === null ? '' : formatY(amount(pointed[name]))}</span>
              </div>
            ))}
          </div>
        )}
      </div>
      <div
        className={classes.ticks}
        data-each={isEachNamed || undefined}
        data-many={ticks.length > mostTicks / 2 || undefined}
      >
        {ticks.map(({ index, label }) => (
          <span
            key={index}
            style={{ insetInlineStart: place(index), maxInlineSize: `${(100 * every) / points.length}%` }}
          >
            {label}
          </span>
        ))}
      </div>
    </div>
  );
}

function Dot({ color }: { color: string }): ReactNode {
  return <i className={classes.dot} style={{ background: cssColor(color) }} />;
}

function amount(value: string | number | null | undefined): number {
  return typeof value === 'number' ? value : 0;
}

/** The variable of a colour of the theme, such as `accent.6`. */
function cssColor(color: string): string {
  return `var(--mantine-color-${color.replace('.', '-')})`;
}

/** A scale from 0 to at least the largest value, in whole steps that people count in: 1, 2 or 5, and their tenfolds. */
function scaleOf(largest: number): { top: number; steps: number[] } {
  // Only what is less than one as a whole, such as small costs, has parts of one.
  const least = largest > 0 && largest < 1 ? largest / gridLines : Math.max(1, largest / gridLines);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
  const count = Math.max(1, Math.ceil(largest / step));
  return { top: count * step, steps: Array.from({ length: count + 1 }, (_, index) => index * step) };
}
