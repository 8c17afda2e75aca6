import { Badge, Button, Group, Paper, Stack, Text, Textarea } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import { ToolCalls } from '../content/answer.tsx';
import { LongText } from '../content/long-text.tsx';
import { textOf, type Turn } from './turns.ts';

/** The messages that follow those of the prompt. What the user and the tools say is typed; the rest is as it came. */
export function Conversation({
  turns,
  onChange,
}: {
  turns: readonly Turn[];
  onChange: (turns: readonly Turn[]) => void;
}): ReactNode {
  const { conversation: texts, roles } = useTexts().prompts;
  const headingId = useId();
  if (turns.length === 0) return null;
  const names = new Map(turns.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id, name }) => [id, name])));
  return (
    <Paper withBorder p="md" component="section" aria-labelledby={headingId}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Text fw={600} size="sm" id={headingId}>
            {texts.title}
          </Text>
          <Button
            size="compact-xs"
            variant="subtle"
            color="gray"
            onClick={() => {
              onChange([]);
            }}
          >
            {texts.end}
          </Button>
        </Group>
        {turns.map((turn, index) => {
          const { role, tool_call_id: callId = '', tool_calls: calls = [] } = turn;
          if (role === 'assistant') {
            const text = textOf(turn);
            return (
              <Stack key={index} gap="xs">
                <Group>
                  <Badge size="sm" variant="light" color="gray">
                    {roles[role] ?? role}
                  </Badge>
                </Group>
                {(text !== '' || calls.length === 0) && <LongText text={text} label={texts.answer(index + 1)} />}
                <ToolCalls calls={calls} />
              </Stack>
            );
          }
          return (
            <Textarea
              key={index}
              label={role === 'tool' ? texts.resultOf(names.get(callId) ?? callId) : (roles[role] ?? role)}
              placeholder={role === 'tool' ? texts.resultPlaceholder : texts.userPlaceholder}
              autosize
              minRows={1}
              maxRows={8}
              value={textOf(turn)}
              onChange={(event) => {
                onChange(turns.with(index, { ...turn, content: event.currentTarget.value }));
              }}
            />
          );
        })}
      </Stack>
    </Paper>
  );
}
