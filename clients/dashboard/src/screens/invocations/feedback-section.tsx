import { Group, Stack, Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { Time } from '../../shared/time.tsx';
import { Section } from '../../shared/section.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';

/** How good the answer was, the latest opinion first. */
export function FeedbackSection({ feedback }: { feedback: readonly Schemas['InvocationFeedback'][] }): ReactNode {
  const { feedback: texts } = useTexts().invocations;
  const format = useFormat();
  return (
    <Section title={texts.title}>
      <Stack gap="sm">
        {feedback.map(({ id, score, name, comment, author, created_at: at }) => (
          <div key={id}>
            <Group gap="xs">
              <Text span size="sm" fw={500}>
                {texts.score(format.number(score))}
                {name !== undefined && ` · ${name}`}
              </Text>
              <Text span size="xs" c="dimmed">
                {author.name} · <Time value={at} />
              </Text>
            </Group>
            {comment !== undefined && (
              <Text size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
                {comment}
              </Text>
            )}
          </div>
        ))}
      </Stack>
    </Section>
  );
}
