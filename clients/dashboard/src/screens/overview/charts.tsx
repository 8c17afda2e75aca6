import { Paper, SimpleGrid } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Series } from '../../shared/chart-bars.tsx';
import { Chart } from '../../shared/chart.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import type { Counts } from './queries.ts';

/** What the numbers were over time. */
export function Charts({ points }: { points: readonly Counts[] }): ReactNode {
  const { charts: texts } = useTexts().overview;
  const shown = points.map(({ cost: _cost, ...point }) => ({
    ...point,
    succeeded: Math.max(point.requests - point.client_errors - point.server_errors, 0),
    answered: Math.max(
      point.invocations - point.cached - point.invocation_errors - point.canceled - point.interrupted,
      0,
    ),
    unanswered: point.canceled + point.interrupted,
  }));
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
      <CountsChart
        label={texts.requests}
        points={shown}
        series={[
          { name: 'succeeded', label: texts.succeeded, color: 'accent.5' },
          { name: 'client_errors', label: texts.clientErrors, color: 'yellow.6' },
          { name: 'server_errors', label: texts.serverErrors, color: 'red.6' },
        ]}
      />
      <CountsChart
        label={texts.attempts}
        points={shown}
        series={[
          { name: 'attempts_succeeded', label: texts.succeeded, color: 'teal.6' },
          { name: 'attempts_failed', label: texts.failed, color: 'red.6' },
        ]}
      />
      <CountsChart
        label={texts.invocations}
        points={shown}
        series={[
          { name: 'answered', label: texts.answered, color: 'accent.5' },
          { name: 'cached', label: texts.cached, color: 'cyan.5' },
          { name: 'unanswered', label: texts.canceled, color: 'gray.5' },
          { name: 'invocation_errors', label: texts.failed, color: 'red.6' },
        ]}
      />
      <CountsChart
        label={texts.tokens}
        points={shown}
        series={[
          { name: 'input_tokens', label: texts.input, color: 'accent.5' },
          { name: 'output_tokens', label: texts.output, color: 'cyan.5' },
        ]}
      />
    </SimpleGrid>
  );
}

type Point = Readonly<Record<string, string | number>>;

/** Stacked bars over time. Where nothing was counted, there is no chart. */
function CountsChart({
  label,
  points,
  series,
}: {
  label: string;
  points: readonly Point[];
  series: readonly Series[];
}): ReactNode {
  const format = useFormat();
  const isEmpty = points.every((point) => series.every(({ name }) => point[name] === 0));
  return (
    <Paper withBorder p="md" miw={0}>
      <Chart
        label={label}
        points={isEmpty ? [] : points}
        x="at"
        formatX={format.time}
        formatY={format.compact}
        series={series}
      />
    </Paper>
  );
}
