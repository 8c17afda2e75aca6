import { Text } from '@mantine/core';
import { IconListSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { DataTable, RowCount, type Column } from '../../shared/data-table.tsx';
import { EmptyState } from '../../shared/empty-state.tsx';
import { FilterBar, useFilters } from '../../shared/filters.tsx';
import { Page } from '../../shared/page.tsx';
import { Time } from '../../shared/time.tsx';
import { useFormat, useOwnTexts, useTexts } from '../../shared/texts.tsx';
import { useAuthors } from '../../shared/use-authors.ts';
import { canaries } from '../../texts/canaries.ts';
import { useList } from '../../shared/use-list.ts';
import { InvocationStatus } from './invocation-status.tsx';
import { invocationsKey, problemName } from './queries.ts';

type Invocation = Schemas['Invocation'];
interface Option {
  value: string;
  label: string;
}

const route = getRouteApi('/invocations');
type Search = ReturnType<typeof route.useSearch>;
/** Prompts that the filter offers. */
const offered = 500;

/** The invocation log, the newest first. */
export function InvocationsScreen(): ReactNode {
  const { invocations: texts, shared } = useTexts();
  const { records: own } = useOwnTexts(canaries);
  const search = route.useSearch();
  const filters = useFilters(search);
  const canReadPrompts = useScope('prompts:read');
  const authors = useAuthors();
  const list = useList({
    queryKey: [...invocationsKey, 'list', search],
    load: (position, options) => gateway.invocations.list({ ...search, ...position } as never, options),
    idOf: ({ id }) => id,
    isLive: true,
    limit: 100,
  });
  const prompts = useQuery({
    queryKey: ['prompts', 'names'],
    queryFn: ({ signal }) => gateway.prompts.list({ limit: 100 }, { signal }).toArray({ limit: offered }),
    staleTime: 60_000,
    enabled: canReadPrompts,
  });
  /** Of the rows that are there. */
  const values = (of: (row: Invocation) => string | undefined): Option[] =>
    optionsOf(list.rows?.flatMap((row) => of(row) ?? []));
  const ofCalls = (of: (call: Invocation['attempts'][number]) => string | undefined): Option[] =>
    optionsOf(list.rows?.flatMap(({ attempts }) => attempts.flatMap((call) => of(call) ?? [])));
  return (
    <Page title={texts.title} description={texts.description}>
      <FilterBar
        filters={filters}
        fields={[
          {
            name: 'status',
            label: texts.columns.status,
            options: Object.entries(texts.statuses).map(([value, label]) => ({ value, label })),
          },
          {
            name: 'problem',
            label: texts.columns.problem,
            options: values(({ problem }) => problem && problemName(problem)),
          },
          canReadPrompts && {
            name: 'prompt',
            label: texts.columns.prompt,
            options: prompts.data?.map(({ id, slug }) => ({ value: id, label: slug })),
          },
          {
            name: 'version',
            label: texts.filters.version,
            options: values(({ prompt_version: version }) => version?.toString()),
          },
          { name: 'label', label: texts.filters.label, options: values(({ label }) => label) },
          { name: 'provider', label: texts.filters.provider, options: values(({ provider }) => provider) },
          { name: 'model', label: texts.columns.model, options: values(({ model }) => model) },
          authors !== undefined && { name: 'author_id', label: texts.columns.key, options: authors },
          {
            name: 'attempt_provider',
            label: texts.filters.attemptProvider,
            options: ofCalls(({ provider }) => provider),
          },
          {
            name: 'attempt_problem',
            label: texts.filters.attemptProblem,
            options: ofCalls(({ problem }) => problem && problemName(problem)),
          },
          search.attempt_model !== undefined && { name: 'attempt_model', label: texts.filters.attemptModel },
          search.attempt_status !== undefined && {
            name: 'attempt_status',
            label: texts.filters.attemptStatus,
            options: Object.entries(texts.statuses).map(([value, label]) => ({ value, label })),
          },
          search.attempt_cost !== undefined && {
            name: 'attempt_cost',
            label: texts.filters.attemptCost,
            options: [{ value: 'unknown', label: texts.unknown }],
          },
          {
            name: 'cached',
            label: texts.filters.cached,
            options: (['only', 'exclude'] as const).map((value) => ({
              value,
              label: texts.filters.cachedValues[value],
            })),
          },
          { name: 'since', label: shared.filters.from, isTime: true },
          { name: 'until', label: shared.filters.until, isTime: true },
          { name: 'tag', label: texts.filters.tag, placeholder: 'team=checkout' },
          { name: 'refused_by', label: texts.filters.refusedBy },
          search.evaluation_id !== undefined && { name: 'evaluation_id', label: texts.filters.evaluation },
          search.canary_id !== undefined && { name: 'canary_id', label: own.canary },
          search.canary_id !== undefined && {
            name: 'arm',
            label: own.arm,
            options: Object.entries(own.arms).map(([value, label]) => ({ value, label })),
          },
          { name: 'request_id', label: shared.requestId },
        ]}
      />
      <RowCount list={list} />
      <DataTable
        label={texts.title}
        columns={useColumns(search)}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/invocations/$id', params: { id } })}
        empty={
          filters.isActive ? (
            <EmptyState icon={IconListSearch} title={shared.filters.noMatch} text={shared.filters.noMatchText} />
          ) : (
            <EmptyState icon={IconListSearch} title={texts.empty.title} text={texts.empty.text} />
          )
        }
      />
    </Page>
  );
}

function optionsOf(values: readonly string[] = []): Option[] {
  return [...new Set(values)].sort().map((value) => ({ value, label: value }));
}

/** The calls to providers of an invocation that the filters of calls mean; all without one. */
function callsOf({ attempts }: Invocation, search: Search): Invocation['attempts'] {
  const { attempt_provider: provider, attempt_model: model, attempt_status: status, attempt_problem: problem } = search;
  return attempts.filter(
    (call) =>
      (provider === undefined || call.provider === provider) &&
      (model === undefined || call.model === model) &&
      (status === undefined || call.status === status) &&
      (problem === undefined || (call.problem !== undefined && problemName(call.problem) === problem)) &&
      (search.attempt_cost === undefined || call.cost === null),
  );
}

function useColumns(search: Search): Column<Invocation>[] {
  const { invocations: texts, shared } = useTexts();
  const format = useFormat();
  return [
    {
      key: 'prompt',
      header: texts.columns.prompt,
      width: '17%',
      cell: ({ prompt_slug: slug, prompt_version: version, operation }) => (
        <Text span size="sm">
          {slug === undefined
            ? ((texts.operations as Record<string, string>)[operation] ?? operation)
            : version === undefined
              ? slug
              : `${slug} · v${version}`}
        </Text>
      ),
    },
    {
      key: 'status',
      header: texts.columns.status,
      width: 210,
      cell: ({ status }) => <InvocationStatus status={status} />,
    },
    {
      key: 'problem',
      header: texts.columns.problem,
      cell: ({ problem }) =>
        problem === undefined ? (
          shared.none
        ) : (
          <Text span size="sm" c="red">
            {problemName(problem)}
          </Text>
        ),
    },
    {
      key: 'model',
      header: texts.columns.model,
      width: '18%',
      cell: ({ model }) => model ?? shared.none,
    },
    {
      key: 'calls',
      header: texts.columns.calls,
      width: 85,
      align: 'end',
      isHiddenOnPhone: true,
      cell: (invocation) => format.number(callsOf(invocation, search).length),
    },
    {
      key: 'latency',
      header: texts.columns.latency,
      align: 'end',
      cell: ({ latency_ms: latency }) => (latency === undefined ? shared.none : format.duration(latency)),
    },
    {
      key: 'tokens',
      header: texts.columns.tokens,
      align: 'end',
      isHiddenOnPhone: true,
      cell: ({ usage }) =>
        usage === undefined
          ? shared.none
          : `${format.tokens(usage.inputTokens)} → ${format.tokens(usage.outputTokens)}`,
    },
    {
      key: 'cost',
      header: texts.columns.cost,
      align: 'end',
      cell: ({ cost }) => format.cost(cost) ?? texts.unknown,
    },
    {
      key: 'key',
      header: texts.columns.key,
      width: '11%',
      isHiddenOnPhone: true,
      cell: ({ author }) => (
        <Text span size="sm">
          {author.name}
        </Text>
      ),
    },
    {
      key: 'created',
      header: texts.columns.created,
      align: 'end',
      cell: ({ created_at }) => <Time value={created_at} />,
    },
  ];
}
