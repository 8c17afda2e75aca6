import { Alert, Button, Group, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { CountLink } from '../../shared/count-link.tsx';
import { FactTable } from '../../shared/fact-table.tsx';
import { TextLink } from '../../shared/links.tsx';
import { useNow } from '../../shared/now.tsx';
import { failureWords, ProblemAlert } from '../../shared/problem-alert.tsx';
import { Time } from '../../shared/time.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { providersKey } from './queries.ts';

type Provider = Schemas['Provider'];

const minuteMs = 60_000;

/** How the calls of a provider ended, and a button that makes one. */
export function ProviderHealth({ provider }: { provider: Provider }): ReactNode {
  const { health: texts } = useTexts().providers;
  const format = useFormat();
  const canSeeCalls = useScope('invocations:read');
  const canTest = useScope('providers:invoke');
  const now = useNow();
  const { id, health } = provider;
  // The minutes that are counted, up to the one in progress.
  const until = Math.ceil(now / minuteMs) * minuteMs;
  const span = { since: new Date(until - 60 * minuteMs).toISOString(), until: new Date(until).toISOString() };
  const calls = (count: number, status: 'succeeded' | 'failed'): ReactNode => (
    <CountLink count={count} to="/invocations" search={{ attempt_provider: id, attempt_status: status, ...span }}>
      {texts[status](format.number(count))}
    </CountLink>
  );
  return (
    <Stack gap="xs">
      <Title order={4}>{texts.title}</Title>
      {health?.status === 'failing' && <FailingAlert id={id} health={health} canSeeCalls={canSeeCalls} />}
      {health === undefined ? (
        <Text size="sm" c="dimmed">
          {texts.never}
        </Text>
      ) : (
        <FactTable
          facts={[
            {
              label: texts.lastHour,
              value: (
                <>
                  {calls(health.succeeded, 'succeeded')}, {calls(health.failed, 'failed')}
                </>
              ),
            },
            { label: texts.lastSuccess, value: <Time value={health.last_success_at} /> },
            { label: texts.lastFailure, value: <Time value={health.last_failure?.at} /> },
          ]}
        />
      )}
      {canTest && <ProviderTest id={id} />}
    </Stack>
  );
}

function FailingAlert({
  id,
  health: { failing_since: since = '', last_failure: failure },
  canSeeCalls,
}: {
  id: string;
  health: NonNullable<Provider['health']>;
  canSeeCalls: boolean;
}): ReactNode {
  const { providers, shared } = useTexts();
  const { health: texts } = providers;
  const format = useFormat();
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title={texts.since(format.moment(since))}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {failure && failureWords(failure, shared)}{' '}
        {failure?.provider_message !== undefined && <q>{failure.provider_message}</q>}
      </Text>
      {canSeeCalls && (
        <TextLink to="/invocations" search={{ attempt_provider: id, since }} size="sm" underline="always">
          {texts.show}
        </TextLink>
      )}
    </Alert>
  );
}

function ProviderTest({ id }: { id: string }): ReactNode {
  const { health: texts } = useTexts().providers;
  const format = useFormat();
  const queryClient = useQueryClient();
  const test = useMutation({
    mutationFn: () => gateway.providers.test(id),
    onSettled: () => void queryClient.invalidateQueries({ queryKey: providersKey }),
  });
  return (
    <Stack gap="xs" aria-live="polite">
      <Group gap="sm">
        <Button
          variant="default"
          size="compact-sm"
          loading={test.isPending}
          onClick={() => {
            test.mutate();
          }}
        >
          {texts.test}
        </Button>
        <Text size="xs" c="dimmed">
          {texts.testNote}
        </Text>
      </Group>
      {test.isError && <ProblemAlert error={test.error} />}
      {test.data !== undefined && (
        <Alert color="green" icon={<IconCircleCheck />} title={texts.answered(format.duration(test.data.latency_ms))}>
          <Text size="sm">
            {test.data.model} · {format.cost(test.data.cost) ?? texts.unknownCost} ·{' '}
            <TextLink to="/invocations/$id" params={{ id: test.data.invocation_id }} size="sm" underline="always">
              {texts.record}
            </TextLink>
          </Text>
        </Alert>
      )}
    </Stack>
  );
}
