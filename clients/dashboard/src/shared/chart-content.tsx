import '@mantine/charts/styles.css';
import { AreaChart, BarChart, LineChart } from '@mantine/charts';
import type { ReactNode } from 'react';
import type { ChartProps } from './chart-props.ts';

/** The table beside the chart is for keyboards and screen readers. */
const unfocused = { accessibilityLayer: false };

/** The chart itself, in a script of its own because its library is large. */
export function ChartContent({
  type,
  points,
  x,
  series,
  formatX,
  formatY,
  height = 200,
  isStacked = false,
}: ChartProps): ReactNode {
  const common = {
    h: height,
    data: points.map((point) => ({ ...point })),
    dataKey: x,
    series: series.map(({ name, label, color }) => ({ name, label, color })),
    withLegend: series.length > 1,
    gridAxis: 'x' as const,
    tickLine: 'none' as const,
    xAxisProps: { minTickGap: type === 'bar' ? 12 : 40, ...(formatX !== undefined && { tickFormatter: formatX }) },
    yAxisProps: { width: 60, allowDecimals: false },
    ...(formatY !== undefined && { valueFormatter: formatY }),
    ...(formatX !== undefined && {
      tooltipProps: { labelFormatter: (value: unknown) => (typeof value === 'string' ? formatX(value) : '') },
    }),
  };
  if (type === 'bar')
    return <BarChart {...common} barChartProps={unfocused} {...(isStacked && { type: 'stacked' as const })} />;
  const lines = { ...common, curveType: 'monotone' as const, withDots: false, strokeWidth: 1.5 };
  if (type === 'line') return <LineChart {...lines} lineChartProps={unfocused} connectNulls={false} />;
  return (
    <AreaChart
      {...lines}
      areaChartProps={unfocused}
      {...(isStacked && { type: 'stacked' as const })}
      fillOpacity={0.15}
    />
  );
}
