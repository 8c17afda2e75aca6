import { Group, Loader, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Dialog } from '../../shared/dialog.tsx';
import { gateway } from '../../app/gateway.ts';
import { every } from '../../app/query-client.ts';
import { JsonView } from '../../shared/json-view.tsx';
import { LinkButton } from '../../shared/links.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { StatusBadge, type Tone } from '../../shared/status-badge.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { AttemptList } from '../deliveries/attempt-list.tsx';
import { useOutcomeText } from '../deliveries/outcome-words.tsx';

/** The answer is shown at once to those who wait for it. */
const whilePending = every(500, 10_000);

const tones: Record<string, Tone> = { delivered: 'ok', held: 'neutral', failed: 'danger' };

/** Follows a test event until the receiver has answered. */
export function TestEventDialog({
  deliveryId,
  onClose,
}: {
  deliveryId: string | undefined;
  onClose: () => void;
}): ReactNode {
  const { integrations } = useTexts();
  const outcomeText = useOutcomeText();
  const { test: texts } = integrations;
  const read = useQuery({
    queryKey: ['deliveries', deliveryId],
    queryFn: ({ signal }) => gateway.deliveries.get(deliveryId ?? '', { signal }),
    enabled: deliveryId !== undefined,
    refetchInterval: (query) => !isDecided(query.state.data) && whilePending.refetchInterval(query),
  });
  const delivery = read.data;
  const isFailed = isDecided(delivery) && delivery?.status !== 'delivered' && delivery?.status !== 'held';
  const attempts = useQuery({
    queryKey: ['deliveries', deliveryId, 'attempts'],
    queryFn: ({ signal }) =>
      gateway.deliveries.listAttempts(deliveryId ?? '', { limit: 100 }, { signal }).toArray({ limit: 100 }),
    enabled: isFailed,
  });
  return (
    <Dialog opened={deliveryId !== undefined} onClose={onClose} title={texts.title}>
      <Stack aria-live="polite" tabIndex={-1} data-autofocus style={{ outline: 'none' }}>
        {read.isError ? (
          <ProblemAlert error={read.error} onRetry={() => void read.refetch()} />
        ) : delivery === undefined || !isDecided(delivery) ? (
          <Group gap="sm">
            <Loader size="sm" />
            <Text>{texts.pending}</Text>
          </Group>
        ) : (
          <>
            <Group gap="sm" wrap="nowrap" align="flex-start">
              <StatusBadge tone={tones[delivery.status] ?? 'danger'}>
                {outcomeText(delivery.last_outcome ?? delivery.status)}
              </StatusBadge>
              <Text>{resultText(delivery.status, texts)}</Text>
            </Group>
            {isFailed && attempts.data !== undefined && <AttemptList attempts={attempts.data} />}
            {isFailed && attempts.isError && <ProblemAlert error={attempts.error} />}
            <JsonView value={delivery.body} label={texts.title} />
            <LinkButton variant="default" to="/deliveries/$id" params={{ id: delivery.id }}>
              {texts.open}
            </LinkButton>
          </>
        )}
      </Stack>
    </Dialog>
  );
}

/** A first attempt has ended, or none is made. */
function isDecided(delivery: { status: string } | undefined): boolean {
  return delivery !== undefined && delivery.status !== 'pending';
}

function resultText(status: string, texts: { delivered: string; held: string; failed: string }): string {
  if (status === 'delivered') return texts.delivered;
  return status === 'held' ? texts.held : texts.failed;
}
