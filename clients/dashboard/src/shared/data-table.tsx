import { Button, Center, Loader, Skeleton, Stack, Text, UnstyledButton } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import { IconChevronDown, IconChevronUp, IconSelector } from '@tabler/icons-react';
import { Link, type LinkProps } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type CSSProperties, type ReactNode } from 'react';
import classes from './data-table.module.css';
import { followLink } from './follow-link.ts';
import { ProblemAlert } from './problem-alert.tsx';
import { useFormat, useTexts } from './texts.tsx';
import { useIsPhone } from './use-is-phone.ts';
import type { ListState } from './use-list.ts';

/** A column of a table. The first is the name of the row, and carries its link. */
export interface Column<Row> {
  key: string;
  header: string;
  cell: (row: Row) => ReactNode;
  /** Numbers and times stand at the end, in one line. */
  align?: 'end';
  /** Texts wrap within this CSS width, such as `'20%'` or `120`; those without one share what is left. */
  width?: string | number;
  /** Left out on phones, where rows are cards of two lines. */
  isHiddenOnPhone?: boolean;
  /** What the rows can be sorted by, once all of them are loaded. */
  sortBy?: (row: Row) => string | number | undefined;
  /** For actions: its heading is not shown. */
  hasNoLabel?: boolean;
}

/** A table of a list. */
export interface DataTableProps<Row> {
  /** What the table lists, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  list: ListState<Row>;
  rowKey: (row: Row) => string;
  /** Where a row leads. Its name is the link; a click anywhere in the row follows it. */
  rowLink?: ((row: Row) => Pick<LinkProps, 'to' | 'params' | 'search'> | undefined) | undefined;
  /** Shown when there are no rows: an `EmptyState`. */
  empty: ReactNode;
}

/** From this number of rows, only those near the window are in the page. */
const longList = 100;

/**
 * A table of a list: skeleton, problem, empty state, rows, and more rows when the end comes into view. On phones each
 * row is a card.
 */
export function DataTable<Row>({ label, columns, list, rowKey, rowLink, empty }: DataTableProps<Row>): ReactNode {
  const { rows, error } = list;
  if (rows === undefined) {
    return error === undefined || error === null ? (
      <TableSkeleton columns={columns.length} />
    ) : (
      <ProblemAlert error={error} onRetry={list.retry} />
    );
  }
  return (
    <div>
      {error !== undefined && error !== null && <ProblemAlert error={error} onRetry={list.retry} />}
      {rows.length === 0 && list.searchedSince === undefined ? (
        <div className={classes.frame}>{empty}</div>
      ) : (
        <Rows
          label={label}
          columns={columns}
          rows={rows}
          rowKey={rowKey}
          rowLink={rowLink}
          total={list.isTotalMinimum === true ? undefined : list.total}
          canSort={list.hasMore !== true}
        />
      )}
      {list.hasMore === true && <MoreRows key={rows.length} list={list} />}
    </div>
  );
}

function Rows<Row>({
  label,
  columns,
  rows: given,
  rowKey,
  rowLink,
  total,
  canSort,
}: Pick<DataTableProps<Row>, 'label' | 'columns' | 'rowKey' | 'rowLink'> & {
  rows: readonly Row[];
  /** Undefined if it is not known. */
  total: number | undefined;
  canSort: boolean;
}): ReactNode {
  const { table: texts, none } = useTexts().shared;
  const [sorting, setSorting] = useState<Sorting>();
  // -1 (WAI-ARIA): there are more rows, and their number is not known.
  const rowCount = total === undefined && !canSort ? -1 : (total ?? given.length) + 1;
  const rows = useMemo(() => (canSort ? sorted(given, columns, sorting) : given), [canSort, given, columns, sorting]);
  const isPhone = useIsPhone();
  const body = useRef<HTMLTableSectionElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  const isLong = rows.length > longList;
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => (isPhone ? 70 : 43),
    overscan: 12,
    scrollMargin,
    enabled: isLong,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : rowKey(row);
    },
  });

  useLayoutEffect(() => {
    if (isLong && body.current !== null) {
      setScrollMargin(body.current.getBoundingClientRect().top + window.scrollY);
    }
  }, [isLong, isPhone]);

  const shown = isLong ? virtualizer.getVirtualItems() : rows.map((_, index) => ({ index }));
  const before = isLong ? (virtualizer.getVirtualItems()[0]?.start ?? scrollMargin) - scrollMargin : 0;
  const after = isLong
    ? virtualizer.getTotalSize() - ((virtualizer.getVirtualItems().at(-1)?.end ?? scrollMargin) - scrollMargin)
    : 0;

  // The roles are said, because a table that is laid out as cards loses them.
  return (
    <div className={classes.frame}>
      <table className={classes.table} role="table" aria-label={label} aria-rowcount={rowCount}>
        <colgroup>
          {columns.map((column) => (
            <col key={column.key} style={fits(column) ? { width: 1 } : { width: column.width }} />
          ))}
        </colgroup>
        <thead role="rowgroup">
          <tr role="row" aria-rowindex={1}>
            {columns.map(({ key, header, align, hasNoLabel, sortBy }) => (
              <th
                key={key}
                role="columnheader"
                scope="col"
                data-align={align}
                aria-sort={sorting?.key === key ? (sorting.isDescending ? 'descending' : 'ascending') : undefined}
              >
                {sortBy !== undefined && canSort ? (
                  <UnstyledButton
                    className={classes.sort}
                    title={texts.sort}
                    onClick={() => {
                      setSorting(nextSorting(key, sorting));
                    }}
                  >
                    {header}
                    <SortIcon isDescending={sorting?.key === key ? sorting.isDescending : undefined} />
                  </UnstyledButton>
                ) : hasNoLabel === true ? (
                  <span className={classes.hidden}>{header}</span>
                ) : (
                  header
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} role="rowgroup">
          <Spacer height={before} columns={columns.length} />
          {shown.map(({ index }) => {
            const row = rows[index];
            if (row === undefined) return null;
            const link = rowLink?.(row);
            return (
              <tr
                key={rowKey(row)}
                ref={isLong ? virtualizer.measureElement : undefined}
                data-index={index}
                role="row"
                aria-rowindex={index + 2}
                data-link={link !== undefined || undefined}
                onClick={link && followLink}
              >
                {columns.map((column, position) => {
                  const content = column.cell(row);
                  return (
                    <td
                      key={column.key}
                      role={position === 0 ? 'rowheader' : 'cell'}
                      data-align={column.align}
                      data-fits={fits(column) || undefined}
                      data-label={position === 0 || column.hasNoLabel === true ? undefined : column.header}
                      data-phone={content === none ? 'hidden' : placeOnPhone(column, position)}
                    >
                      {position === 0 && link !== undefined ? (
                        <Link {...link} className={classes.link}>
                          {content}
                        </Link>
                      ) : (
                        content
                      )}
                    </td>
                  );
                })}
              </tr>
            );
          })}
          <Spacer height={after} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

/** How the rows are sorted; `undefined`: as they came. */
type Sorting = { readonly key: string; readonly isDescending: boolean } | undefined;

/** A click sorts with the largest first, the next with the smallest first, the third as the rows came. */
function nextSorting(key: string, now: Sorting): Sorting {
  if (now?.key !== key) return { key, isDescending: true };
  return now.isDescending ? { key, isDescending: false } : undefined;
}

function SortIcon({ isDescending }: { isDescending: boolean | undefined }): ReactNode {
  const Icon = isDescending === undefined ? IconSelector : isDescending ? IconChevronDown : IconChevronUp;
  return <Icon size={12} stroke={1.75} aria-hidden />;
}

/** Rows without a value stand at the end. */
function sorted<Row>(rows: readonly Row[], columns: readonly Column<Row>[], sorting: Sorting): readonly Row[] {
  const sortBy = columns.find(({ key }) => key === sorting?.key)?.sortBy;
  if (sorting === undefined || sortBy === undefined) return rows;
  const sign = sorting.isDescending ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [sortBy(one), sortBy(other)];
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    return sign * (typeof a === 'string' ? a.localeCompare(String(b)) : a - Number(b));
  });
}

/** Whether a column is as wide as its widest cell: numbers, times, statuses and actions. */
function fits<Row>({ key, align, hasNoLabel }: Column<Row>): boolean {
  return align === 'end' || key === 'status' || hasNoLabel === true;
}

/** Where a cell stands in the card of a row: its name and status in the first line, actions in a line of their own. */
function placeOnPhone<Row>({ key, isHiddenOnPhone, hasNoLabel }: Column<Row>, position: number): string | undefined {
  if (isHiddenOnPhone === true) return 'hidden';
  if (hasNoLabel === true) return 'actions';
  return position > 0 && key === 'status' ? 'aside' : undefined;
}

/** Takes the place of the rows that are not in the page. */
function Spacer({ height, columns }: { height: number; columns: number }): ReactNode {
  if (height <= 0) return null;
  const style: CSSProperties = { height };
  return (
    <tr aria-hidden="true" className={classes.spacer} style={style}>
      <td colSpan={columns} style={style} />
    </tr>
  );
}

/** Loads more rows when it comes into view. After a failure only the button does. */
function MoreRows<Row>({ list }: { list: ListState<Row> }): ReactNode {
  const { shared } = useTexts();
  const format = useFormat();
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  const { isLoadingMore = false, loadMore, error, searchedSince } = list;
  // Searching through all of a long list is up to the user.
  const isFound = searchedSince === undefined && (error === undefined || error === null);
  const isAutomatic = inViewport && !isLoadingMore && isFound;
  useEffect(() => {
    if (isAutomatic) loadMore?.();
    // Once for each time that the end comes into view.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [isAutomatic]);
  return (
    <Center ref={ref} py="md">
      {isLoadingMore ? (
        <Loader size="sm" type="dots" aria-label={shared.table.loadingMore} />
      ) : (
        <Stack align="center" gap="xs">
          {searchedSince !== undefined && (
            <Text size="sm" c="dimmed">
              {shared.table.searchedSince(format.dateTime(searchedSince))}
            </Text>
          )}
          <Button variant="default" size="compact-sm" onClick={loadMore}>
            {searchedSince === undefined ? shared.table.loadMore : shared.table.searchFurther}
          </Button>
        </Stack>
      )}
    </Center>
  );
}

function TableSkeleton({ columns }: { columns: number }): ReactNode {
  const { shared } = useTexts();
  return (
    <div className={classes.frame} role="status" aria-label={shared.loading}>
      {Array.from({ length: 6 }, (_, row) => (
        <div key={row} className={classes.skeleton}>
          {Array.from({ length: Math.min(columns, 5) }, (_, column) => (
            <Skeleton key={column} height={10} width={`${[70, 45, 60, 40, 55][(row + column) % 5] ?? 50}%`} />
          ))}
        </div>
      ))}
    </div>
  );
}

/** How many rows a list has, for the line above a table. */
export function RowCount({ list }: { list: ListState<unknown> }): ReactNode {
  const { shared } = useTexts();
  const format = useFormat();
  if (list.total === undefined) return null;
  return (
    <Text size="sm" c="dimmed">
      {shared.table[list.isTotalMinimum === true ? 'rowsAtLeast' : 'rows'](format.number(list.total))}
    </Text>
  );
}
