import { Group, SimpleGrid, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { live } from '../../app/query-client.ts';
import { useScope } from '../../app/session-context.ts';
import { CopyableId } from '../../shared/copy.tsx';
import { LinkButton } from '../../shared/links.tsx';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { versioned } from '../../shared/versioned.ts';
import { FailingDelivery } from './failing-delivery.tsx';
import { IntegrationActions, IntegrationFailure } from './integration-actions.tsx';
import { IntegrationConfiguration } from './integration-configuration.tsx';
import { IntegrationChart, IntegrationHealth } from './integration-health.tsx';
import { IntegrationNotices } from './integration-notices.tsx';
import { IntegrationStatus } from './integration-status.tsx';
import { integrationKey } from './queries.ts';
import { SecretRotation } from './secret-rotation.tsx';

const route = getRouteApi('/integrations/$id');

/** One integration: its Application ID, its health, how it is set up, and what can be done with it. */
export function IntegrationScreen(): ReactNode {
  const { integrations: texts } = useTexts();
  const { id } = route.useParams();
  const search = route.useSearch();
  const canManage = useScope('integrations:manage');
  const [failure, setFailure] = useState<unknown>();
  const read = useQuery({
    queryKey: integrationKey(id),
    queryFn: ({ signal }) => versioned(gateway.integrations.get(id, { signal })),
    ...live,
  });
  const integration = read.data?.data;
  return (
    <Page
      title={integration?.name ?? id}
      badge={integration && <IntegrationStatus integration={integration} />}
      description={<CopyableId value={id} label={texts.detail.applicationId} withLabel />}
      breadcrumbs={[{ label: texts.title, to: '/integrations' }]}
      actions={integration && canManage && <IntegrationActions integration={integration} onError={setFailure} />}
    >
      <IntegrationFailure error={failure} />
      {read.isError && <ProblemAlert error={read.error} onRetry={() => void read.refetch()} />}
      {integration !== undefined ? (
        <Stack gap="md">
          <IntegrationNotices integration={integration} />
          {integration.failing_delivery !== undefined && (
            <FailingDelivery
              integrationId={id}
              failedSince={integration.last_success_at ?? integration.created_at}
              delivery={integration.failing_delivery}
              canManage={canManage}
            />
          )}
          <IntegrationHealth integration={integration} />
          <Group gap="xs">
            <LinkButton variant="default" size="xs" to="/deliveries" search={{ integration_id: id }}>
              {texts.detail.deliveries}
            </LinkButton>
            <LinkButton variant="default" size="xs" to="/deliveries" search={{ integration_id: id, status: 'held' }}>
              {texts.detail.held}
            </LinkButton>
            <LinkButton variant="default" size="xs" to="/integrations/$id/replays" params={{ id }}>
              {texts.detail.replays}
            </LinkButton>
          </Group>
          <IntegrationChart id={id} search={search} />
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md" style={{ alignItems: 'start' }}>
            <IntegrationConfiguration integration={integration} />
            <SecretRotation integration={integration} canManage={canManage} />
          </SimpleGrid>
        </Stack>
      ) : (
        !read.isError && <Skeleton height={320} />
      )}
    </Page>
  );
}
