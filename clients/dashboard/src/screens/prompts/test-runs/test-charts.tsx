import { Paper } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { Chart } from '../../../shared/chart.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import classes from './test-runs.module.css';

/** Latency and tokens of the results, as bars in their order. */
export function TestCharts({ results }: { results: readonly Schemas['TestResult'][] }): ReactNode {
  const { testRuns: texts } = useTexts().prompts;
  const format = useFormat();
  const points = results.map((result, index) => ({
    // Models can occur more than once, and an axis shows each of its values once.
    target: String(index),
    latency: result.latency_ms,
    input: result.status === 'failed' ? 0 : (result.result.usage.inputTokens ?? null),
    output: result.status === 'failed' ? 0 : (result.result.usage.outputTokens ?? null),
  }));
  const formatX = (index: string): string => {
    const { version, model = '' } = results[Number(index)] ?? {};
    return version === undefined ? model : `v${version} ${model}`;
  };
  return (
    <div className={classes.charts}>
      <Paper withBorder p="md">
        <Chart
          label={texts.latency}
          points={points}
          x="target"
          isEachNamed
          formatX={formatX}
          formatY={format.duration}
          series={[{ name: 'latency', label: texts.latency, color: 'accent.6' }]}
        />
      </Paper>
      <Paper withBorder p="md">
        <Chart
          label={texts.tokens}
          points={points}
          x="target"
          isEachNamed
          formatX={formatX}
          formatY={format.number}
          series={[
            { name: 'input', label: texts.inputTokens, color: 'accent.3' },
            { name: 'output', label: texts.outputTokens, color: 'accent.7' },
          ]}
        />
      </Paper>
    </div>
  );
}
