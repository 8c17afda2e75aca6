import { Accordion, Group, Stack, Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { CodeBlock } from '../../shared/code-block.tsx';
import { JsonView } from '../../shared/json-view.tsx';
import { Time } from '../../shared/time.tsx';
import { StatusBadge } from '../../shared/status-badge.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';

/** The attempts of a delivery, the newest first, each with the receiver's answer. */
export function AttemptList({ attempts }: { attempts: readonly Schemas['Attempt'][] }): ReactNode {
  const { attempt: texts } = useTexts().deliveries;
  const format = useFormat();
  const newestFirst = attempts.toReversed();
  return (
    <Accordion variant="contained" multiple defaultValue={[String(newestFirst[0]?.number)]} order={3}>
      {newestFirst.map((attempt) => (
        <Accordion.Item key={attempt.number} value={String(attempt.number)}>
          <Accordion.Control>
            <Group gap="sm" wrap="wrap">
              <Text fw={500} size="sm">
                {texts.number(format.number(attempt.number))}
              </Text>
              <StatusBadge tone={attempt.succeeded ? 'ok' : 'danger'}>{outcomeOf(attempt, texts)}</StatusBadge>
              <Text size="xs" c="dimmed">
                {format.duration(attempt.latency_ms)} · <Time value={attempt.started_at} />
              </Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>
            <Answer attempt={attempt} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

function outcomeOf(
  { status_code, error }: Schemas['Attempt'],
  texts: { status: (code: string) => string; noAnswer: string },
): string {
  const status = status_code === undefined ? undefined : texts.status(String(status_code));
  return [status, error].filter((part) => part !== undefined).join(', ') || texts.noAnswer;
}

function Answer({ attempt }: { attempt: Schemas['Attempt'] }): ReactNode {
  const { attempt: texts } = useTexts().deliveries;
  const { number, status_code, response_headers = {}, response_body = '', response_body_truncated } = attempt;
  if (status_code === undefined) return <Text c="dimmed">{texts.noAnswer}</Text>;
  const headers = Object.entries(response_headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <Stack gap="xs">
      {headers.length > 0 && (
        <>
          <Text size="sm" fw={500}>
            {texts.headers}
          </Text>
          <CodeBlock code={headers.join('\n')} label={texts.headersOf(String(number))} maxHeight={200} />
        </>
      )}
      <Text size="sm" fw={500}>
        {texts.body}
      </Text>
      {response_body === '' ? (
        <Text c="dimmed" size="sm">
          {texts.emptyBody}
        </Text>
      ) : (
        <JsonView value={response_body} label={texts.bodyOf(String(number))} />
      )}
      {response_body_truncated === true && (
        <Text c="dimmed" size="xs">
          {texts.truncated}
        </Text>
      )}
    </Stack>
  );
}
