import { Button, SimpleGrid, Skeleton, Stack, Title } from '@mantine/core';
import { IconDatabase, IconDownload, IconFileImport, IconTrash } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway, serviceUrl } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { AskButton } from '../../shared/ask-button.tsx';
import { CopyableId } from '../../shared/copy.tsx';
import { DataTable, RowCount, type Column } from '../../shared/data-table.tsx';
import { EmptyState } from '../../shared/empty-state.tsx';
import { FactTable } from '../../shared/fact-table.tsx';
import { ForScope } from '../../shared/for-scope.tsx';
import { LinkButton, TextLink } from '../../shared/links.tsx';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { Section } from '../../shared/section.tsx';
import { StatusBadge } from '../../shared/status-badge.tsx';
import { Time } from '../../shared/time.tsx';
import { useFormat, useOwnTexts } from '../../shared/texts.tsx';
import { datasets } from '../../texts/datasets.ts';
import { CaseTable } from './case-table.tsx';
import { datasetKeys, useCases, useDataset, useDatasetVersions } from './queries.ts';

type Dataset = Schemas['Dataset'];
type Version = Schemas['DatasetVersionPage']['data'][number];

const route = getRouteApi('/datasets/$name');

/** One data set: its versions, and the cases of one of them. */
export function DatasetScreen(): ReactNode {
  const { name } = route.useParams();
  return (
    <ForScope scope="datasets:read" title={name}>
      <OneDataset name={name} />
    </ForScope>
  );
}

function OneDataset({ name }: { name: string }): ReactNode {
  const texts = useOwnTexts(datasets);
  const canWrite = useScope('datasets:write');
  const { data, error, refetch } = useDataset(name);
  const dataset = data?.data;
  const { version } = route.useSearch();
  const shown = version !== undefined && /^[1-9]\d{0,8}$/.test(version) ? Number(version) : dataset?.version;
  return (
    <Page
      title={name}
      breadcrumbs={[{ label: texts.title, to: '/datasets' }]}
      actions={
        dataset !== undefined &&
        shown !== undefined && (
          <>
            <Button
              component="a"
              // The browser writes it into the file as it arrives.
              href={`${serviceUrl}api/v1/datasets/${name}/versions/${shown}/export`}
              download={`${name}.jsonl`}
              variant="default"
              leftSection={<IconDownload size={16} />}
            >
              {texts.download}
            </Button>
            {canWrite && (
              <>
                <LinkButton
                  to="/dataset-import"
                  search={{ name }}
                  variant="default"
                  leftSection={<IconFileImport size={16} />}
                >
                  {texts.replace}
                </LinkButton>
                <DeleteDataset dataset={dataset} />
              </>
            )}
          </>
        )
      }
    >
      {error !== null && <ProblemAlert error={error} onRetry={() => void refetch()} />}
      {data === null && <EmptyState icon={IconDatabase} title={texts.noneTitle} text={texts.noneText} />}
      {data === undefined && error === null && <Skeleton height={320} />}
      {dataset !== undefined && shown !== undefined && (
        <Stack gap="lg">
          <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md" style={{ alignItems: 'start' }}>
            <Facts dataset={dataset} />
            <Versions dataset={dataset} shown={shown} />
          </SimpleGrid>
          <Cases key={`${dataset.id} ${shown}`} dataset={dataset} version={shown} />
        </Stack>
      )}
    </Page>
  );
}

function Facts({ dataset }: { dataset: Dataset }): ReactNode {
  const texts = useOwnTexts(datasets);
  const format = useFormat();
  const { version, cases, bytes, digest, created_at, updated_at, author } = dataset;
  return (
    <Section title={texts.facts}>
      <FactTable
        facts={[
          { label: texts.current, value: texts.version(version) },
          { label: texts.columns.cases, value: format.number(cases) },
          { label: texts.columns.size, value: format.bytes(bytes) },
          { label: texts.digest, value: <CopyableId value={digest} label={texts.digest} /> },
          { label: texts.created, value: <Time value={created_at} /> },
          { label: texts.columns.updated, value: <Time value={updated_at} /> },
          { label: texts.columns.author, value: author.name },
        ]}
      />
    </Section>
  );
}

function Versions({ dataset, shown }: { dataset: Dataset; shown: number }): ReactNode {
  const texts = useOwnTexts(datasets);
  return (
    <Section title={texts.versions}>
      <DataTable
        label={texts.versions}
        columns={useVersionColumns(dataset.name, shown)}
        list={useDatasetVersions(dataset.name)}
        rowKey={({ version }) => String(version)}
        empty={null}
      />
    </Section>
  );
}

function useVersionColumns(name: string, shown: number): Column<Version>[] {
  const texts = useOwnTexts(datasets);
  const format = useFormat();
  return [
    {
      key: 'version',
      header: texts.columns.version,
      cell: ({ version }) => (
        <>
          <TextLink
            to="/datasets/$name"
            params={{ name }}
            search={{ version: String(version) }}
            resetScroll={false}
            size="sm"
            aria-current={version === shown ? 'true' : undefined}
          >
            {texts.version(version)}
          </TextLink>{' '}
          {version === shown && <StatusBadge tone="info">{texts.shown}</StatusBadge>}
        </>
      ),
    },
    { key: 'cases', header: texts.columns.cases, align: 'end', cell: ({ cases }) => format.number(cases) },
    {
      key: 'author',
      header: texts.columns.author,
      width: '30%',
      isHiddenOnPhone: true,
      cell: ({ author }) => author.name,
    },
    {
      key: 'created',
      header: texts.created,
      align: 'end',
      cell: ({ created_at }) => <Time value={created_at} />,
    },
  ];
}

function Cases({ dataset, version }: { dataset: Dataset; version: number }): ReactNode {
  const texts = useOwnTexts(datasets);
  const list = useCases(dataset, version);
  return (
    <Stack gap="sm" component="section" aria-label={texts.casesOf(version)}>
      <Title order={2} size="h4">
        {texts.casesOf(version)}
      </Title>
      <RowCount list={list} />
      <CaseTable label={texts.casesOf(version)} list={list} keyOf={({ id }) => id} empty={null} />
    </Stack>
  );
}

function DeleteDataset({ dataset: { name, cases } }: { dataset: Dataset }): ReactNode {
  const { deletion: texts } = useOwnTexts(datasets);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return (
    <AskButton
      action={texts.button}
      variant="subtle"
      color="red"
      leftSection={<IconTrash size={16} />}
      title={texts.title(name)}
      text={texts.text(cases)}
      confirm={texts.button}
      isDangerous
      send={() => gateway.datasets.delete(name)}
      onDone={async () => {
        await navigate({ to: '/datasets' });
        queryClient.removeQueries({ queryKey: datasetKeys.dataset(name) });
        void queryClient.invalidateQueries({ queryKey: datasetKeys.all });
        return texts.done(name);
      }}
    />
  );
}
