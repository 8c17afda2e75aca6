import { Button, Group, Paper, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { promptUpdate } from '../../../generated/limits.ts';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import classes from './save-bar.module.css';

interface SaveBarProps {
  /** What is not saved, or what is wrong. */
  readonly text: string;
  readonly isWrong: boolean;
  readonly submit: string;
  readonly onSubmit: () => void;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly discard: string;
  readonly onDiscard: () => void;
  /** The note about the version. A new prompt needs none. */
  readonly note?: { readonly value: string; readonly onChange: (value: string) => void };
}

/** Stays at the bottom of the window while there is something to save. */
export function SaveBar(props: SaveBarProps): ReactNode {
  const { editor: texts } = useTexts().prompts;
  return (
    <Paper withBorder shadow="md" p="sm" component="section" aria-label={texts.saveBar} className={classes.bar}>
      {props.error !== null && props.error !== undefined && <ProblemAlert error={props.error} />}
      <Group justify="space-between" gap="xs">
        <Text size="sm" role="status" c={props.isWrong ? 'var(--mantine-color-error)' : 'dimmed'}>
          {props.text}
        </Text>
        {props.note !== undefined && (
          <TextInput
            flex="1 1 200px"
            maw={480}
            aria-label={texts.note}
            placeholder={texts.note}
            maxLength={promptUpdate.note.maxLength}
            value={props.note.value}
            onChange={(event) => props.note?.onChange(event.currentTarget.value)}
          />
        )}
        <Group gap="xs">
          <Button variant="default" disabled={props.isPending} onClick={props.onDiscard}>
            {props.discard}
          </Button>
          <Button loading={props.isPending} onClick={props.onSubmit}>
            {props.submit}
          </Button>
        </Group>
      </Group>
    </Paper>
  );
}
