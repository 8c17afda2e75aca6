import { Alert, Button, Group, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconInfoCircle, IconRepeat } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { live } from '../../app/query-client.ts';
import { useScope } from '../../app/session-context.ts';
import { CopyableId } from '../../shared/copy.tsx';
import { FactTable } from '../../shared/fact-table.tsx';
import { JsonView } from '../../shared/json-view.tsx';
import { TextLink } from '../../shared/links.tsx';
import { useNotify } from '../../shared/notify.ts';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { Time } from '../../shared/time.tsx';
import { Section } from '../../shared/section.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { AttemptList } from './attempt-list.tsx';
import { DeliveryStatus } from './delivery-status.tsx';
import { deliveriesKey } from './queries.ts';
import { TargetLink } from './target-link.tsx';

const route = getRouteApi('/deliveries/$id');

/** One delivery: what was sent, each attempt with the receiver's answer, and what can be done. */
export function DeliveryScreen(): ReactNode {
  const { deliveries: texts } = useTexts();
  const { id } = route.useParams();
  const canManage = useScope('integrations:manage');
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  const read = useQuery({
    queryKey: [...deliveriesKey, id],
    queryFn: ({ signal }) => gateway.deliveries.get(id, { signal }),
    ...live,
  });
  const attempts = useQuery({
    queryKey: [...deliveriesKey, id, 'attempts'],
    queryFn: ({ signal }) => gateway.deliveries.listAttempts(id, { limit: 100 }, { signal }).toArray({ limit: 100 }),
    ...live,
  });
  const resend = useMutation({
    mutationFn: (now: boolean) => gateway.deliveries.resend(id, now ? { now } : {}),
    onSuccess: (sent) => {
      notify(texts.resent);
      void queryClient.invalidateQueries({ queryKey: deliveriesKey });
      void navigate({ to: '/deliveries/$id', params: { id: sent.id } });
    },
  });
  const delivery = read.data;
  // Without `now`, another delivery would wait beside this one.
  const isHeldBack = delivery?.held_by === 'breaker';
  return (
    <Page
      title={delivery === undefined ? id : texts.detail.title(delivery.event_type)}
      badge={delivery && <DeliveryStatus status={delivery.status} />}
      description={<CopyableId value={id} label={texts.detail.id} withLabel />}
      breadcrumbs={[{ label: texts.title, to: '/deliveries' }]}
      actions={
        delivery &&
        canManage && (
          <Button
            variant={delivery.status === 'failed' || isHeldBack ? 'filled' : 'default'}
            leftSection={<IconRepeat size={16} />}
            loading={resend.isPending}
            onClick={() => {
              resend.mutate(isHeldBack);
            }}
          >
            {isHeldBack ? texts.detail.sendNow : texts.detail.resend}
          </Button>
        )
      }
    >
      {resend.isError && <ProblemAlert error={resend.error} />}
      {read.isError && <ProblemAlert error={read.error} onRetry={() => void read.refetch()} />}
      {delivery !== undefined ? (
        <Stack gap="md">
          <Notice reason={isHeldBack ? 'breaker' : delivery.status} />
          <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md" style={{ alignItems: 'start' }}>
            <Stack gap="md">
              <Facts delivery={delivery} />
              <Section title={texts.detail.body}>
                <Text c="dimmed" size="sm">
                  {texts.detail.bodyText}
                </Text>
                <JsonView value={delivery.body} label={texts.detail.body} />
              </Section>
            </Stack>
            <Stack gap="sm" component="section">
              <Title order={2} size="h4">
                {texts.detail.attempts}
              </Title>
              {attempts.isError ? (
                <ProblemAlert error={attempts.error} onRetry={() => void attempts.refetch()} />
              ) : attempts.data === undefined ? (
                <Skeleton height={120} />
              ) : attempts.data.length === 0 ? (
                <Text c="dimmed">{texts.detail.noAttempts}</Text>
              ) : (
                <AttemptList key={id} attempts={attempts.data} />
              )}
            </Stack>
          </SimpleGrid>
        </Stack>
      ) : (
        !read.isError && <Skeleton height={320} />
      )}
    </Page>
  );
}

function Notice({ reason }: { reason: string }): ReactNode {
  const texts: Partial<Record<string, string>> = useTexts().deliveries.notices;
  const text = texts[reason];
  if (text === undefined) return null;
  return (
    <Alert color={reason === 'failed' ? 'red' : reason === 'breaker' ? 'yellow' : 'gray'} icon={<IconInfoCircle />}>
      {text}
    </Alert>
  );
}

function Facts({ delivery }: { delivery: Schemas['Delivery'] }): ReactNode {
  const { detail: texts } = useTexts().deliveries;
  const { integration_id, event_id, replay_id, next_attempt_at, delivered_at, created_at } = delivery;
  const integration = useQuery({
    queryKey: ['integrations', integration_id, 'name'],
    queryFn: ({ signal }) => gateway.integrations.get(integration_id, { signal }),
    staleTime: 60_000,
  });
  const target = delivery.target_id;
  return (
    <Section title={texts.facts}>
      <FactTable
        facts={[
          {
            label: texts.integration,
            value: (
              <TextLink to="/integrations/$id" params={{ id: integration_id }} size="sm">
                {integration.data?.name ?? integration_id}
              </TextLink>
            ),
          },
          {
            label: texts.event,
            value: (
              <>
                <CopyableId value={event_id} label={texts.event} />
                <br />
                <TextLink to="/deliveries" search={{ event_id }} size="xs">
                  {texts.sameEvent}
                </TextLink>
              </>
            ),
          },
          target !== undefined && {
            label: texts.target,
            value: (
              <>
                <CopyableId value={target} label={texts.target} />
                <Group gap="md">
                  <TargetLink eventType={delivery.event_type} id={target} />
                  <TextLink to="/deliveries" search={{ target_id: target }} size="xs">
                    {texts.sameTarget}
                  </TextLink>
                </Group>
              </>
            ),
          },
          replay_id !== undefined && {
            label: texts.replay,
            value: (
              <>
                <CopyableId value={replay_id} label={texts.replay} />
                <br />
                <TextLink to="/integrations/$id/replays" params={{ id: integration_id }} size="xs">
                  {texts.replays}
                </TextLink>
              </>
            ),
          },
          { label: texts.created, value: <Time value={created_at} /> },
          delivered_at !== undefined && { label: texts.delivered, value: <Time value={delivered_at} /> },
          next_attempt_at !== undefined && { label: texts.next, value: <Time value={next_attempt_at} /> },
        ]}
      />
    </Section>
  );
}
