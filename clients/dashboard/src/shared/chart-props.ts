import type { ReactNode } from 'react';

/** One line, area or bar of a chart. */
export interface Series {
  /** Field of the points. */
  name: string;
  label: string;
  /** Colour of the theme, such as `accent.6`. */
  color: string;
}

/** A chart over some points, and the same as a table. */
export interface ChartProps {
  type: 'area' | 'line' | 'bar';
  /** What the chart shows, for its heading and for screen readers. */
  label: string;
  /** Values, also of the summary at the right of the heading. */
  summary?: ReactNode;
  points: readonly Readonly<Record<string, string | number | null>>[];
  /** Field of the points along the axis. */
  x: string;
  series: readonly Series[];
  formatX?: (value: string) => string;
  formatY?: (value: number) => string;
  height?: number;
  /** Puts the series on top of each other. */
  isStacked?: boolean;
}
