import { useInfiniteQuery, useQuery, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { live } from '../app/query-client.ts';

/** A list as `DataTable` shows it. A list that is there as a whole has `rows` only. */
export interface ListState<Row> {
  /** `undefined` while the first page is loading. */
  rows: readonly Row[] | undefined;
  /** Number of entries of the whole list, or of a counted part of it. */
  total?: number | undefined;
  isTotalMinimum?: boolean | undefined;
  error?: unknown;
  retry?: () => void;
  hasMore?: boolean;
  /** The list was searched back to this time only, for entries that match its filters. */
  searchedSince?: string | undefined;
  isLoadingMore?: boolean;
  loadMore?: () => void;
}

/** Where a page begins and how long it is: to be spread into the query of a list. */
export interface Position {
  limit: number;
  after?: string;
}

interface ListPage<Row> {
  data: Row[];
  pagination: { next: string | null; total: number; total_is_minimum?: boolean; searched_since?: string };
}

type Pages<Row> = InfiniteData<ListPage<Row>, string | undefined>;

/** What `useList` reads. */
export interface ListOptions<Row> {
  queryKey: readonly unknown[];
  /** `(position, options) => gateway.orders.list({ ...filters, ...position }, options)` */
  load: (position: Position, options: { signal: AbortSignal }) => Promise<ListPage<Row>>;
  idOf: (row: Row) => string;
  /** Reads the first page again and again while the page is visible. */
  isLive?: boolean;
  /** Entries of a page. 50 by default. */
  limit?: number;
}

/**
 * Reads a list page by page. Only the first page is read again, when the list is live, when the window gets the focus,
 * and when the screen is opened: new entries appear at the top and removed ones disappear, however long the list is.
 */
export function useList<Row>({ queryKey, load, idOf, isLive = false, limit = 50 }: ListOptions<Row>): ListState<Row> {
  const queryClient = useQueryClient();
  const pagesKey = [...queryKey, 'pages'];
  const pages = useInfiniteQuery({
    queryKey: pagesKey,
    queryFn: ({ pageParam, signal }) =>
      load(pageParam === undefined ? { limit } : { limit, after: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) => pagination.next ?? undefined,
    staleTime: Infinity,
    // Comparing a long list with itself takes longer than showing it.
    structuralSharing: false,
  });
  const head = useQuery({
    queryKey: [...queryKey, 'head'],
    queryFn: async ({ signal }) => {
      const page = await load({ limit }, { signal });
      queryClient.setQueryData<Pages<Row>>(pagesKey, (old) => old && withHead(old, page, idOf));
      return page.pagination;
    },
    enabled: pages.isSuccess,
    initialData: pages.data?.pages[0]?.pagination,
    initialDataUpdatedAt: () => queryClient.getQueryState(pagesKey)?.dataUpdatedAt ?? 0,
    ...(isLive && live),
  });
  const rows = useMemo(() => pages.data?.pages.flatMap(({ data }) => data), [pages.data]);
  const counted = head.data ?? pages.data?.pages[0]?.pagination;
  return {
    rows,
    total: counted?.total,
    isTotalMinimum: counted?.total_is_minimum,
    error: pages.error ?? head.error,
    retry: () => {
      void (pages.isError ? pages.refetch() : head.refetch());
    },
    hasMore: pages.hasNextPage,
    searchedSince: pages.data?.pages.at(-1)?.pagination.searched_since,
    isLoadingMore: pages.isFetchingNextPage,
    loadMore: () => {
      void pages.fetchNextPage();
    },
  };
}

/**
 * Puts a first page that was read again before the pages that are there. What the new page covers is replaced by it; if
 * it covers nothing of the old list, the rest could lack entries in between and is dropped.
 */
function withHead<Row>(old: Pages<Row>, head: ListPage<Row>, idOf: (row: Row) => string): Pages<Row> {
  const alone = { pages: [head], pageParams: [undefined] };
  const [first, ...later] = old.pages;
  if (first === undefined || head.pagination.next === null) return alone;
  const ids = new Set(head.data.map(idOf));
  const covered = first.data.findLastIndex((row) => ids.has(idOf(row)));
  if (covered < 0) return alone;
  const rest = first.data.slice(covered + 1);
  if (rest.length === 0 && later.length === 0) return alone;
  // The head ends within the old first page: its rest goes in front of the next one.
  const [second, ...others] = later;
  const next = { data: [...rest, ...(second?.data ?? [])], pagination: (second ?? first).pagination };
  const cleaned = [next, ...others].map((page) =>
    page.data.some((row) => ids.has(idOf(row)))
      ? { ...page, data: page.data.filter((row) => !ids.has(idOf(row))) }
      : page,
  );
  return {
    pages: [head, ...cleaned],
    pageParams: second === undefined ? [undefined, head.pagination.next] : old.pageParams,
  };
}
