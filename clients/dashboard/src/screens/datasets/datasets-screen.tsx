import { IconDatabase, IconFileImport } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useScope } from '../../app/session-context.ts';
import { DataTable, RowCount, type Column } from '../../shared/data-table.tsx';
import { EmptyState } from '../../shared/empty-state.tsx';
import { ForScope } from '../../shared/for-scope.tsx';
import { LinkButton } from '../../shared/links.tsx';
import { Page } from '../../shared/page.tsx';
import { Time } from '../../shared/time.tsx';
import { useFormat, useOwnTexts } from '../../shared/texts.tsx';
import { datasets } from '../../texts/datasets.ts';
import { useDatasets } from './queries.ts';

/** All data sets. */
export function DatasetsScreen(): ReactNode {
  const texts = useOwnTexts(datasets);
  return (
    <ForScope scope="datasets:read" title={texts.title}>
      <Datasets />
    </ForScope>
  );
}

function Datasets(): ReactNode {
  const texts = useOwnTexts(datasets);
  const canWrite = useScope('datasets:write');
  const list = useDatasets();
  const add = canWrite && (
    <LinkButton to="/dataset-import" leftSection={<IconFileImport size={16} />}>
      {texts.create}
    </LinkButton>
  );
  const isEmpty = list.rows?.length === 0;
  return (
    <Page title={texts.title} description={texts.description} actions={!isEmpty && add}>
      {!isEmpty && <RowCount list={list} />}
      <DataTable
        label={texts.title}
        columns={useColumns()}
        list={list}
        rowKey={({ name }) => name}
        rowLink={({ name }) => ({ to: '/datasets/$name', params: { name } })}
        empty={<EmptyState icon={IconDatabase} title={texts.emptyTitle} text={texts.emptyText} action={add} />}
      />
    </Page>
  );
}

function useColumns(): Column<Schemas['Dataset']>[] {
  const texts = useOwnTexts(datasets);
  const format = useFormat();
  return [
    { key: 'name', header: texts.columns.name, cell: ({ name }) => name, sortBy: ({ name }) => name },
    { key: 'version', header: texts.columns.version, width: 100, cell: ({ version }) => texts.version(version) },
    {
      key: 'cases',
      header: texts.columns.cases,
      align: 'end',
      cell: ({ cases }) => format.number(cases),
      sortBy: ({ cases }) => cases,
    },
    {
      key: 'size',
      header: texts.columns.size,
      align: 'end',
      isHiddenOnPhone: true,
      cell: ({ bytes }) => format.bytes(bytes),
      sortBy: ({ bytes }) => bytes,
    },
    {
      key: 'author',
      header: texts.columns.author,
      width: '22%',
      isHiddenOnPhone: true,
      cell: ({ author }) => author.name,
    },
    {
      key: 'updated',
      header: texts.columns.updated,
      align: 'end',
      cell: ({ updated_at }) => <Time value={updated_at} />,
      sortBy: ({ updated_at }) => updated_at,
    },
  ];
}
