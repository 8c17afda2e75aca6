import { Accordion, Group, Stack, Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { CodeBlock } from '../../shared/code-block.tsx';
import { JsonView } from '../../shared/json-view.tsx';
import { Time } from '../../shared/time.tsx';
import { StatusBadge } from '../../shared/status-badge.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { OutcomeHelp, useOutcomeText } from './outcome-words.tsx';

/** The attempts of a delivery, the newest first, each with the receiver's answer. */
export function AttemptList({ attempts }: { attempts: readonly Schemas['Attempt'][] }): ReactNode {
  const { attempt: texts } = useTexts().deliveries;
  const format = useFormat();
  const outcomeText = useOutcomeText();
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
              <StatusBadge tone={attempt.succeeded ? 'ok' : 'danger'}>
                {outcomeOf(attempt, texts, outcomeText)}
              </StatusBadge>
              <Text size="xs" c="dimmed">
                {format.duration(attempt.latency_ms)} · <Time value={attempt.started_at} />
              </Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>
            <Stack gap="xs">
              <OutcomeHelp attempt={attempt} />
              <Answer attempt={attempt} />
              <Headers
                headers={attempt.request_headers}
                title={texts.sent}
                label={texts.sentOf(String(attempt.number))}
              />
            </Stack>
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

function outcomeOf(
  { status_code, error }: Schemas['Attempt'],
  texts: { status: (code: string) => string; noAnswer: string },
  outcomeText: (outcome: string) => string,
): string {
  const status = status_code === undefined ? undefined : texts.status(String(status_code));
  const reason = error === undefined ? undefined : outcomeText(error);
  return [status, reason].filter((part) => part !== undefined).join(', ') || texts.noAnswer;
}

function Headers({
  headers = {},
  title,
  label,
}: {
  headers: Readonly<Record<string, string>> | undefined;
  title: string;
  label: string;
}): ReactNode {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  if (lines.length === 0) return null;
  return (
    <>
      <Text size="sm" fw={500}>
        {title}
      </Text>
      <CodeBlock code={lines.join('\n')} label={label} maxHeight={200} />
    </>
  );
}

function Answer({ attempt }: { attempt: Schemas['Attempt'] }): ReactNode {
  const { attempt: texts } = useTexts().deliveries;
  const { number, status_code, response_headers = {}, response_body = '', response_body_truncated } = attempt;
  if (status_code === undefined) return <Text c="dimmed">{texts.noAnswer}</Text>;
  return (
    <Stack gap="xs">
      <Headers headers={response_headers} title={texts.headers} label={texts.headersOf(String(number))} />
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
