import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

/** A name with its value. */
export interface Fact {
  label: string;
  value: ReactNode;
}

/** Facts about one thing, each in a row. `false` is left out. */
export function FactTable({ facts }: { facts: readonly (Fact | false)[] }): ReactNode {
  return (
    <Table variant="vertical" verticalSpacing={8} horizontalSpacing={0} withRowBorders={false} layout="fixed">
      <Table.Tbody>
        {facts
          .filter((fact) => fact !== false)
          .map(({ label, value }) => (
            <Table.Tr key={label}>
              <Table.Th
                scope="row"
                w={{ base: 110, sm: 140 }}
                fw={400}
                c="dimmed"
                pe="sm"
                bg="transparent"
                style={{ verticalAlign: 'top' }}
              >
                {label}
              </Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
            </Table.Tr>
          ))}
      </Table.Tbody>
    </Table>
  );
}
