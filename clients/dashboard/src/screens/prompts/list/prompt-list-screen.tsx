import { Badge, Text } from '@mantine/core';
import { IconMessageCode } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { DataTable, RowCount, type Column } from '../../../shared/data-table.tsx';
import { EmptyState } from '../../../shared/empty-state.tsx';
import { FilterBar, SearchFilter, useFilters } from '../../../shared/filters.tsx';
import { LinkButton } from '../../../shared/links.tsx';
import { Page } from '../../../shared/page.tsx';
import { RelativeTime } from '../../../shared/relative-time.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { inOrder } from '../labels/label-badges.tsx';
import { usePromptList } from '../prompt-queries.ts';
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
  return (
    <Page title={texts.title} description={texts.description} actions={create}>
      <FilterBar filters={filters}>
        <SearchFilter filters={filters} name="q" label={texts.search} placeholder={texts.searchPlaceholder} />
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
            <EmptyState icon={IconMessageCode} title={texts.emptyTitle} text={texts.emptyText} action={create} />
          )
        }
      />
    </Page>
  );
}

function useColumns(): Column<Schemas['Prompt']>[] {
  const { prompts, labels: labelTexts, shared } = useTexts();
  const { columns } = prompts.list;
  return [
    {
      key: 'name',
      header: columns.name,
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
      width: '24%',
      cell: ({ selected_provider: provider, selected_model: model }) => (
        <Text size="sm" truncate>
          {[provider, model].filter((part) => part !== undefined).join(' / ') || shared.none}
        </Text>
      ),
    },
    {
      key: 'version',
      header: columns.version,
      width: 96,
      cell: ({ version }) => (
        <Badge variant="default" tt="none" radius="sm">
          {prompts.workspace.version(version)}
        </Badge>
      ),
    },
    {
      key: 'labels',
      header: columns.labels,
      width: '22%',
      cell: ({ labels = {} }) => (
        <Text size="sm" truncate title={labelText(labels, labelTexts.badge)}>
          {labelText(labels, labelTexts.badge) || shared.none}
        </Text>
      ),
    },
    {
      key: 'updated',
      header: columns.updated,
      width: 140,
      cell: ({ updated_at }) => <RelativeTime value={updated_at} />,
    },
  ];
}

function labelText(labels: Readonly<Record<string, number>>, badge: (name: string, version: number) => string): string {
  return inOrder(labels)
    .map(([name, version]) => badge(name, version))
    .join(', ');
}
