import { Button, Group, ScrollArea, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import classes from './conflict-dialog.module.css';
import { isSameJson } from './merge.ts';
import { ProblemAlert } from './problem-alert.tsx';
import { useTexts } from './texts.tsx';

/** Two versions of the same fields, with what only one side changed in both. */
export interface Conflict<Fields extends object> {
  mine: Fields;
  theirs: Fields;
}

/** A form whose record was changed by someone else while it was edited. */
export interface ConflictDialogProps<Fields extends object> {
  conflict: Conflict<Fields> | undefined;
  /** Names of the fields, in the order in which they are shown. */
  labels: Readonly<Record<keyof Fields, string>>;
  onKeepMine: () => void;
  onTakeTheirs: () => void;
  onClose: () => void;
  isPending: boolean;
  error?: unknown;
}

/** Shows the fields that both sides changed, side by side, and asks which to keep. */
export function ConflictDialog<Fields extends object>(props: ConflictDialogProps<Fields>): ReactNode {
  const { conflict: texts } = useTexts().shared;
  const { conflict, labels, error } = props;
  const names = Object.keys(labels) as (keyof Fields)[];
  const differing =
    conflict === undefined ? [] : names.filter((name) => !isSameJson(conflict.mine[name], conflict.theirs[name]));
  return (
    <Dialog
      opened={conflict !== undefined}
      onClose={props.onClose}
      title={texts.title}
      size="xl"
      closeOnClickOutside={false}
    >
      <Stack>
        {/* Neither choice is the one that Enter makes. */}
        <Text tabIndex={-1} data-autofocus style={{ outline: 'none' }}>
          {differing.length === 0 ? texts.same : texts.explanation}
        </Text>
        {conflict !== undefined && differing.length > 0 && (
          <ScrollArea.Autosize mah="50vh" viewportProps={{ tabIndex: 0 }}>
            <Table className={classes.table} layout="fixed" withTableBorder withColumnBorders>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th w="24%">{texts.field}</Table.Th>
                  <Table.Th>{texts.mine}</Table.Th>
                  <Table.Th>{texts.theirs}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {differing.map((name) => (
                  <Table.Tr key={String(name)}>
                    <Table.Th scope="row">{labels[name]}</Table.Th>
                    <Table.Td>
                      <Value value={conflict.mine[name]} />
                    </Table.Td>
                    <Table.Td>
                      <Value value={conflict.theirs[name]} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </ScrollArea.Autosize>
        )}
        {error !== undefined && error !== null && <ProblemAlert error={error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={props.onTakeTheirs} disabled={props.isPending}>
            {texts.takeTheirs}
          </Button>
          <Button onClick={props.onKeepMine} loading={props.isPending}>
            {texts.keepMine}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

function Value({ value }: { value: unknown }): ReactNode {
  const { conflict: texts } = useTexts().shared;
  if (value === undefined || value === null || value === '') {
    return (
      <Text size="sm" c="dimmed" fs="italic">
        {texts.empty}
      </Text>
    );
  }
  return <pre className={classes.value}>{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>;
}
