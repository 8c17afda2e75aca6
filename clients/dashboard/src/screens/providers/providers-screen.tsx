import { Accordion, Alert, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { CodeBlock } from '../../shared/code-block.tsx';
import { useFilters } from '../../shared/filters.tsx';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { StatusBadge } from '../../shared/status-badge.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { ProviderBadge } from './provider-badge.tsx';
import { ProviderDetails } from './provider-details.tsx';
import classes from './providers.module.css';
import { useProviders } from './queries.ts';

type Provider = Schemas['Provider'];

const route = getRouteApi('/providers');

/** A line of `.env` that adds a server; the quotes are for shells. */
const compatibleExample =
  'OPENAI_COMPATIBLE_PROVIDERS=\'[{"id": "ollama", "base_url": "http://127.0.0.1:11434/v1", "models": ["llama3.3"]}]\'';

/** The providers: which are configured, and how to configure the others. */
export function ProvidersScreen(): ReactNode {
  const { providers: texts } = useTexts();
  const format = useFormat();
  const providers = useProviders();
  const all = providers.data ?? [];
  const configured = all.filter((provider) => provider.configured);
  return (
    <Page
      title={texts.title}
      description={texts.description}
      badge={
        providers.data && (
          <StatusBadge tone="neutral">
            {texts.count(format.number(configured.length), format.number(all.length))}
          </StatusBadge>
        )
      }
    >
      {providers.isPending && <Skeleton height={320} radius="lg" />}
      {providers.isError && <ProblemAlert error={providers.error} onRetry={() => void providers.refetch()} />}
      {providers.data !== undefined && (
        <Stack gap="xl">
          <Providers title={texts.available} providers={configured} />
          <Alert color="blue" icon={<IconInfoCircle />} title={texts.restart.title}>
            {texts.restart.text}
          </Alert>
          <Providers title={texts.others} providers={all.filter((provider) => !provider.configured)} />
          <Stack component="section" gap="xs">
            <Title order={2} size="h4">
              {texts.compatible.title}
            </Title>
            <Text c="dimmed" size="sm" maw={720}>
              {texts.compatible.text}
            </Text>
            <CodeBlock code={compatibleExample} label={texts.compatible.label} />
          </Stack>
        </Stack>
      )}
    </Page>
  );
}

/** Some of the providers. The address has the one that is open. */
function Providers({ title, providers }: { title: string; providers: readonly Provider[] }): ReactNode {
  const search = route.useSearch();
  const filters = useFilters(search);
  if (providers.length === 0) return null;
  const open = providers.find(({ id }) => id === search.provider)?.id ?? null;
  return (
    <Stack component="section" gap="xs">
      <Title order={2} size="h4">
        {title}
      </Title>
      <Paper withBorder className={classes.list}>
        <Accordion
          variant="default"
          order={3}
          value={open}
          onChange={(id) => {
            filters.set('provider', id ?? undefined);
          }}
        >
          {providers.map((provider) => (
            <Accordion.Item key={provider.id} value={provider.id}>
              <Accordion.Control>
                <Group gap="sm" wrap="nowrap" justify="space-between" pe="xs">
                  <div style={{ minWidth: 0 }}>
                    <Text fw={500} truncate>
                      {provider.name}
                    </Text>
                    <Text size="xs" c="dimmed" ff="monospace" truncate>
                      {provider.defaultModel}
                    </Text>
                  </div>
                  <ProviderBadge provider={provider} />
                </Group>
              </Accordion.Control>
              <Accordion.Panel>{provider.id === open && <ProviderDetails provider={provider} />}</Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
      </Paper>
    </Stack>
  );
}
