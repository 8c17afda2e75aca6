import { Text } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { DataTable, RowCount, type Column } from '../../shared/data-table.tsx';
import { EmptyState } from '../../shared/empty-state.tsx';
import { FilterBar, useFilters } from '../../shared/filters.tsx';
import { TextLink } from '../../shared/links.tsx';
import { Page } from '../../shared/page.tsx';
import { Time } from '../../shared/time.tsx';
import { useOwnTexts, useTexts } from '../../shared/texts.tsx';
import { useAuthorName, useAuthors } from '../../shared/use-authors.ts';
import { useList } from '../../shared/use-list.ts';
import { auditLog } from '../../texts/audit-log.ts';
import { ChangeList } from './change-list.tsx';
import { ResourceLink } from './resource-link.tsx';
import { resourceTypes } from './resource-types.ts';

type AuditRecord = Schemas['AuditRecord'];

const route = getRouteApi('/audit-log');

/** Who changed what, the newest first. */
export function AuditLogScreen(): ReactNode {
  const texts = useOwnTexts(auditLog);
  const { shared } = useTexts();
  const search = route.useSearch();
  const filters = useFilters(search);
  const authors = useAuthors();
  const service = { value: 'service', label: shared.theService };
  const list = useList({
    queryKey: ['audit-log', search],
    load: (position, options) => gateway.auditLog.list({ ...search, ...position }, options),
    idOf: ({ id }) => id,
    isLive: true,
  });
  return (
    <Page title={texts.title} description={texts.description}>
      <FilterBar
        filters={filters}
        fields={[
          {
            name: 'resource_type',
            label: texts.columns.resource,
            options: resourceTypes.map((value) => ({ value, label: texts.types[value] })),
          },
          { name: 'resource_id', label: texts.resourceId },
          authors === undefined
            ? { name: 'author_id', label: texts.authorId }
            : { name: 'author_id', label: texts.author, options: [...authors, service] },
          { name: 'request_id', label: shared.requestId },
          { name: 'since', label: shared.filters.from, isTime: true },
          { name: 'until', label: shared.filters.until, isTime: true },
        ]}
      />
      <RowCount list={list} />
      <DataTable
        label={texts.title}
        columns={useColumns()}
        list={list}
        rowKey={({ id }) => id}
        empty={
          filters.isActive ? (
            <EmptyState icon={IconHistory} title={shared.filters.noMatch} text={shared.filters.noMatchText} />
          ) : (
            <EmptyState icon={IconHistory} title={texts.empty.title} text={texts.empty.text} />
          )
        }
      />
    </Page>
  );
}

function useColumns(): Column<AuditRecord>[] {
  const texts = useOwnTexts(auditLog);
  const operations: Record<string, string> = texts.operations;
  const nameOf = useAuthorName();
  return [
    {
      key: 'operation',
      header: texts.columns.operation,
      width: 190,
      cell: ({ operation }) => <Text size="sm">{operations[operation] ?? operation}</Text>,
    },
    {
      key: 'resource',
      header: texts.columns.resource,
      width: 210,
      cell: (record) => (
        <div>
          <Text size="sm">{(texts.types as Record<string, string>)[record.resource_type] ?? record.resource_type}</Text>
          <ResourceLink record={record} />
          <TextLink to="/audit-log" search={{ resource_id: record.resource_id }} size="xs" c="dimmed">
            {texts.allChanges}
          </TextLink>
        </div>
      ),
    },
    {
      key: 'changes',
      header: texts.columns.changes,
      cell: (record) => <ChangeList record={record} />,
    },
    {
      key: 'who',
      header: texts.columns.who,
      width: 170,
      cell: ({ author, session_id, address }) => (
        <div>
          <TextLink to="/audit-log" search={{ author_id: author.id }} size="sm" display="block">
            {nameOf(author)}
          </TextLink>
          <Text size="xs" c="dimmed">
            {session_id === undefined ? address : texts.byHand(address)}
          </Text>
        </div>
      ),
    },
    {
      key: 'when',
      header: texts.columns.when,
      align: 'end',
      cell: ({ created_at }) => <Time value={created_at} />,
    },
  ];
}
