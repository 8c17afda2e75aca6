import { Badge, Group, Text } from '@mantine/core';
import { IconMessageCode, IconUpload } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import { Fragment, type ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { CountLink } from '../../../shared/count-link.tsx';
import { DataTable, RowCount, type Column } from '../../../shared/data-table.tsx';
import { EmptyState } from '../../../shared/empty-state.tsx';
import { FilterBar, useFilters } from '../../../shared/filters.tsx';
import { LinkButton } from '../../../shared/links.tsx';
import { Page } from '../../../shared/page.tsx';
import { Time } from '../../../shared/time.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import { inOrder } from '../labels/label-badges.tsx';
import { useAttention } from '../../overview/queries.ts';
import { usePromptList, usePromptUsage } from '../prompt-queries.ts';
import { ExportButton } from '../transfer/export-button.tsx';
import classes from './prompt-list.module.css';

const route = getRouteApi('/prompts');

/** All prompts, the last changed first, with a search. */
export function PromptListScreen(): ReactNode {
  const { prompts, shared } = useTexts();
  const texts = prompts.list;
  const filters = useFilters(route.useSearch());
  const list = usePromptList(filters.values.q ?? '');
  const canWrite = useScope('prompts:write');
  const create = canWrite && <LinkButton to="/prompts/new">{texts.create}</LinkButton>;
  const takeOver = canWrite && (
    <LinkButton to="/prompts/import" variant="default" leftSection={<IconUpload size={16} />}>
      {texts.import}
    </LinkButton>
  );
  const actions = (
    <>
      {list.total !== 0 && <ExportButton />}
      {takeOver}
      {create}
    </>
  );
  return (
    <Page title={texts.title} description={texts.description} actions={actions}>
      <FilterBar filters={filters} fields={[{ name: 'q', label: texts.search, placeholder: texts.searchPlaceholder }]}>
        <RowCount list={list} />
      </FilterBar>
      <DataTable
        label={texts.title}
        columns={useColumns()}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/prompts/$promptId', params: { promptId: id } })}
        empty={
          filters.isActive ? (
            <EmptyState icon={IconMessageCode} title={shared.filters.noMatch} text={shared.filters.noMatchText} />
          ) : (
            <EmptyState
              icon={IconMessageCode}
              title={texts.emptyTitle}
              text={texts.emptyText}
              action={
                <Group gap="xs" justify="center">
                  {takeOver}
                  {create}
                </Group>
              }
            />
          )
        }
      />
    </Page>
  );
}

function useColumns(): Column<Schemas['Prompt']>[] {
  const { prompts, labels: labelTexts, shared } = useTexts();
  const { columns } = prompts.list;
  const costs = usePromptUsage();
  /** Versions that need attention, by prompt. */
  const failing = Map.groupBy(useAttention().data?.data.filter(({ kind }) => kind === 'prompt') ?? [], ({ id }) => id);
  return [
    {
      key: 'name',
      header: columns.name,
      sortBy: ({ name }) => name,
      cell: ({ name, slug }) => (
        <span className={classes.name}>
          <span className={classes.title}>{name}</span>
          <span className={classes.slug}>{slug}</span>
        </span>
      ),
    },
    {
      key: 'model',
      header: columns.model,
      width: '15%',
      cell: ({ selected_provider: provider, selected_model: model }) =>
        [provider, model].filter((part) => part !== undefined).join(' / ') || shared.none,
    },
    {
      key: 'version',
      header: columns.version,
      width: 76,
      cell: ({ version }) => (
        <Badge variant="default" tt="none" radius="sm">
          {prompts.workspace.version(version)}
        </Badge>
      ),
    },
    {
      key: 'labels',
      header: columns.labels,
      width: '15%',
      cell: ({ labels = {} }) => {
        const text = labelText(labels, labelTexts.badge);
        return text === '' ? shared.none : text;
      },
    },
    ...(costs === undefined
      ? []
      : [
          {
            key: 'usage',
            header: columns.usage,
            width: 190,
            sortBy: ({ id }: Schemas['Prompt']) => sumsOf(costs, id)?.calls ?? 0,
            cell: ({ id }: Schemas['Prompt']) => <Usage promptId={id} costs={costs} />,
          },
          {
            key: 'failures',
            header: columns.failures,
            width: 130,
            sortBy: ({ id }: Schemas['Prompt']) => failing.get(id)?.[0]?.count ?? 0,
            cell: ({ id }: Schemas['Prompt']) => <Failures versions={failing.get(id)} />,
          },
        ]),
    {
      key: 'updated',
      header: columns.updated,
      align: 'end',
      isHiddenOnPhone: true,
      sortBy: ({ updated_at }) => updated_at,
      cell: ({ updated_at }) => <Time value={updated_at} />,
    },
  ];
}

function sumsOf({ groups }: Schemas['Costs'], promptId: string): Schemas['CostSums'] | undefined {
  return groups.find(({ prompt_id: id }) => id === promptId)?.sums;
}

/** The calls to providers of the last day, and what they cost. */
function Usage({ promptId, costs }: { promptId: string; costs: Schemas['Costs'] }): ReactNode {
  const { prompts, shared } = useTexts();
  const format = useFormat();
  const sums = sumsOf(costs, promptId);
  if (sums === undefined) return shared.none;
  const search = { prompt: promptId, since: costs.since, until: costs.until };
  const { calls, failed_calls: failed } = sums;
  return (
    <>
      <CountLink count={calls} to="/invocations" search={search}>
        {prompts.list.calls(format.number(calls))}
      </CountLink>
      {failed > 0 && ' · '}
      {failed > 0 && (
        <CountLink count={failed} to="/invocations" search={{ ...search, attempt_status: 'failed' }}>
          {prompts.list.failedCalls(format.number(failed))}
        </CountLink>
      )}{' '}
      · {format.cost(sums.cost)}
    </>
  );
}

/** How many invocations of the last hour failed, of versions that need attention. */
function Failures({ versions = [] }: { versions: readonly Schemas['AttentionItem'][] | undefined }): ReactNode {
  const { prompts, shared } = useTexts();
  const format = useFormat();
  if (versions.length === 0) return shared.none;
  return (
    <Text span size="sm" c="red" fw={500}>
      {versions.map(({ version = 0, count = 0, of = 0, invocations = {} }, index) => (
        <Fragment key={version}>
          {index > 0 && ', '}
          <CountLink count={count} to="/invocations" search={invocations}>
            {prompts.list.failing(version, format.number(count), format.number(of))}
          </CountLink>
        </Fragment>
      ))}
    </Text>
  );
}

function labelText(labels: Readonly<Record<string, number>>, badge: (name: string, version: number) => string): string {
  return inOrder(labels)
    .map(([name, version]) => badge(name, version))
    .join(', ');
}
