import { Paper, SegmentedControl, SimpleGrid, Skeleton, Stack } from '@mantine/core';
import { IconCoin } from '@tabler/icons-react';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { liveStatistics } from '../../app/query-client.ts';
import { useScope } from '../../app/session-context.ts';
import { Chart } from '../../shared/chart.tsx';
import { CountLink } from '../../shared/count-link.tsx';
import { DataTable, type Column } from '../../shared/data-table.tsx';
import { EmptyState } from '../../shared/empty-state.tsx';
import { Figure } from '../../shared/figure.tsx';
import { useFilters } from '../../shared/filters.tsx';
import { useNow } from '../../shared/now.tsx';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { BudgetsSection } from './budgets/budgets-section.tsx';
import { groupings, spans } from './groupings.ts';
import { MissingPrices } from './prices/missing-prices.tsx';

type Costs = Schemas['Costs'];
type Group = Costs['groups'][number];

const route = getRouteApi('/costs');
const dayMs = 86_400_000;
const defaultSpan = '30';

/** What calls to providers cost: by day as a chart, and in a table by model, prompt, version, key or tag. */
export function CostsScreen(): ReactNode {
  const { costs: texts, shared } = useTexts();
  const format = useFormat();
  const search = route.useSearch();
  const filters = useFilters(search);
  const by: (typeof groupings)[number] = search.by ?? 'model';
  const canReadBudgets = useScope('budgets:read');
  const days = useCosts('day');
  const groups = useCosts(by);
  const models = useCosts('model');
  const total = days.data?.total;
  const counted = days.data && searchOf(search, days.data);
  const points = days.data === undefined ? [] : pointsOf(days.data);
  return (
    <Page title={texts.title} description={texts.description}>
      <SegmentedControl
        size="xs"
        w="fit-content"
        maw="100%"
        aria-label={texts.span}
        value={search.days ?? defaultSpan}
        data={spans.map((value) => ({ value, label: texts.days(Number(value)) }))}
        onChange={(value) => {
          filters.set('days', value === defaultSpan ? undefined : value);
        }}
      />
      {days.error !== null && <ProblemAlert error={days.error} onRetry={() => void days.refetch()} />}
      {total === undefined ? (
        days.error === null && <Skeleton height={280} />
      ) : (
        <Stack gap="md">
          <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
            <Figure
              label={texts.cost}
              note={total.ceiling_cost && texts.ceiling(format.cost(total.ceiling_cost) ?? shared.none)}
            >
              <CountLink count={total.calls} to="/invocations" search={counted ?? {}}>
                {format.cost(total.cost)}
              </CountLink>
            </Figure>
            <Figure
              label={texts.calls}
              note={days.data?.added_up_until && texts.addedUpUntil(format.dateTime(days.data.added_up_until))}
            >
              <CountLink count={total.calls} to="/invocations" search={counted ?? {}} />
            </Figure>
            <Figure label={texts.tokens} note={texts.tokenNote(format.compact(total.output_tokens))}>
              <CountLink count={total.calls} to="/invocations" search={counted ?? {}}>
                {format.compact(total.input_tokens + total.output_tokens)}
              </CountLink>
            </Figure>
            <Figure label={texts.withoutCost} note={total.without_cost > 0 && texts.withoutCostNote}>
              <CountLink
                count={total.without_cost}
                to="/invocations"
                search={{ ...counted, attempt_cost: 'unknown' }}
              />
            </Figure>
          </SimpleGrid>
          {total.without_cost > 0 && <MissingPrices groups={models.data?.groups ?? []} search={counted ?? {}} />}
          <Paper withBorder p="md">
            <Chart
              label={texts.byDay}
              points={points}
              x="day"
              formatX={format.day}
              formatY={(value) => format.cost({ amount: String(value) }) ?? ''}
              series={[{ name: 'cost', label: texts.cost, color: 'accent.6' }]}
            />
          </Paper>
        </Stack>
      )}
      {canReadBudgets && <BudgetsSection />}
      <SegmentedControl
        size="xs"
        w="fit-content"
        maw="100%"
        aria-label={texts.by}
        value={by}
        data={groupings.map((value) => ({ value, label: texts.groupings[value] }))}
        onChange={(value) => {
          filters.set('by', value === 'model' ? undefined : value);
        }}
      />
      <DataTable<Group>
        label={texts.groupings[by]}
        columns={useColumns((group) => linkOf(group, search, groups.data))}
        list={{
          rows: groups.data?.groups,
          error: groups.error,
          retry: () => {
            void groups.refetch();
          },
        }}
        rowKey={(group) => JSON.stringify({ ...group, sums: undefined })}
        rowLink={(group) => linkOf(group, search, groups.data)}
        empty={<EmptyState icon={IconCoin} title={texts.empty.title} text={texts.empty.text} />}
      />
    </Page>
  );
}

/** A point for each day, also for those without calls. */
function pointsOf({ since, until, groups }: Costs): { day: string; cost: number }[] {
  const known = new Map(groups.map(({ day, sums }) => [day, Number(sums.cost.amount)]));
  const [first, last] = [Date.parse(since), Math.min(Date.parse(until), Date.now())];
  return Array.from({ length: Math.max(0, Math.ceil((last - first) / dayMs)) }, (_, index) => {
    const day = new Date(first + index * dayMs).toISOString().slice(0, 10);
    return { day, cost: known.get(day) ?? 0 };
  });
}

function useCosts(by: 'day' | (typeof groupings)[number]): UseQueryResult<Costs, unknown> {
  const { days = defaultSpan, by: _by, ...search } = route.useSearch();
  // Full days in UTC, as the answer has them.
  const since = new Date(Math.floor(useNow() / dayMs) * dayMs - (Number(days) - 1) * dayMs).toISOString();
  return useQuery({
    queryKey: ['costs', by, since, search],
    queryFn: ({ signal }) => gateway.costs.get({ by, since, ...search }, { signal }),
    ...liveStatistics,
  });
}

type Search = ReturnType<typeof route.useSearch>;
type Link = { to: '/invocations'; search: Record<string, string> };

/** The invocations with the calls that are added up, as filters of their list. */
function searchOf({ prompt, key_id: author_id, tag }: Search, { since, until }: Costs): Record<string, string> {
  return { ...defined({ prompt, author_id, tag }), since, until };
}

/** The invocations with the calls of a group. Those without a stored prompt have no filter. */
function linkOf({ sums: _, ...group }: Group, search: Search, costs: Costs | undefined): Link | undefined {
  const { prompt_id: prompt, prompt_version: version, model, provider, key_id, tag } = group;
  if (costs === undefined || Object.values(group).every((value) => value === undefined)) return undefined;
  const own = { prompt, version: version?.toString(), author_id: key_id, tag };
  const ofCalls = { attempt_provider: provider, attempt_model: model };
  return { to: '/invocations', search: { ...searchOf(search, costs), ...defined({ ...own, ...ofCalls }) } };
}

function defined(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function useColumns(linkTo: (group: Group) => Link | undefined): Column<Group>[] {
  const { costs: texts } = useTexts();
  const format = useFormat();
  return [
    {
      key: 'name',
      header: texts.name,
      cell: (group) => nameOf(group) ?? texts.withoutPrompt,
    },
    { key: 'calls', header: texts.calls, align: 'end', cell: ({ sums }) => format.number(sums.calls) },
    {
      key: 'input',
      header: texts.input,
      align: 'end',
      isHiddenOnPhone: true,
      cell: ({ sums }) => format.number(sums.input_tokens),
    },
    {
      key: 'output',
      header: texts.output,
      align: 'end',
      isHiddenOnPhone: true,
      cell: ({ sums }) => format.number(sums.output_tokens),
    },
    {
      key: 'without',
      header: texts.withoutCost,
      align: 'end',
      cell: (group) => {
        const link = linkTo(group);
        const { without_cost: count } = group.sums;
        if (link === undefined) return format.number(count);
        return <CountLink count={count} to={link.to} search={{ ...link.search, attempt_cost: 'unknown' }} />;
      },
    },
    { key: 'cost', header: texts.cost, align: 'end', cell: ({ sums }) => format.cost(sums.cost) },
  ];
}

function nameOf({ prompt_slug: slug, prompt_id: id, prompt_version: version, ...group }: Group): string | undefined {
  if (group.model !== undefined) return `${group.provider ?? ''} / ${group.model}`;
  if (group.tag !== undefined) return group.tag;
  if (group.key_id !== undefined) return group.key_name ?? group.key_id;
  const prompt = slug ?? id;
  return prompt !== undefined && version !== undefined ? `${prompt} · v${version}` : prompt;
}
