import { Button, Group, Stack, Table, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ChartBars, type ChartProps } from './chart-bars.tsx';
import { useTexts } from './texts.tsx';

/** A chart with a table of the same values for those who cannot see it. */
export function Chart(props: ChartProps): ReactNode {
  const { chart: texts } = useTexts().shared;
  const { label, summary, points, height = 200 } = props;
  const [isTable, setIsTable] = useState(false);
  return (
    <Stack gap="xs" component="figure" aria-label={label} m={0}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text component="figcaption" fw={500} size="sm">
          {label}
        </Text>
        <Group gap="xs" wrap="nowrap">
          {summary}
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            aria-pressed={isTable}
            aria-label={`${isTable ? texts.asChart : texts.asTable}: ${label}`}
            onClick={() => {
              setIsTable(!isTable);
            }}
          >
            {isTable ? texts.asChart : texts.asTable}
          </Button>
        </Group>
      </Group>
      {isTable ? (
        <ChartTable {...props} />
      ) : points.length === 0 ? (
        <Text c="dimmed" size="sm" h={height} ta="center" pt={height / 2 - 10}>
          {texts.empty}
        </Text>
      ) : (
        <div aria-hidden="true">
          <ChartBars {...props} height={height} />
        </div>
      )}
    </Stack>
  );
}

function ChartTable({ label, points, x, series, formatX, formatY }: ChartProps): ReactNode {
  return (
    <Table.ScrollContainer minWidth={240} maxHeight={320} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table aria-label={label} stickyHeader verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Td />
            {series.map(({ name, label: title }) => (
              <Table.Th key={name} ta="end">
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {points.map((point, index) => (
            <Table.Tr key={index}>
              <Table.Th scope="row" fw={400}>
                {formatX === undefined ? point[x] : formatX(String(point[x]))}
              </Table.Th>
              {series.map(({ name }) => {
                const value = point[name];
                return (
                  <Table.Td key={name} ta="end">
                    {typeof value === 'number' && formatY !== undefined ? formatY(value) : value}
                  </Table.Td>
                );
              })}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
