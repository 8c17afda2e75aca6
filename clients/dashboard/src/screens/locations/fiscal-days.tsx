import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { IconCalendarCheck } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { ConfirmDialog } from '../../shared/confirm-dialog.tsx';
import { DataTable, type Column } from '../../shared/data-table.tsx';
import { EmptyState } from '../../shared/empty-state.tsx';
import { useNotify } from '../../shared/notify.ts';
import { Time } from '../../shared/time.tsx';
import { showRate } from '../../shared/rates.ts';
import { taxTexts } from '../../shared/tax-texts.ts';
import { useFormat, useOwnTexts, useTexts } from '../../shared/texts.tsx';
import { useList } from '../../shared/use-list.ts';
import { currentFiscalDate } from './fiscal-date.ts';
import { locationKey } from './queries.ts';

/** The closed fiscal days of a location with their totals, and a button that closes a day. */
export function FiscalDays({ location }: { location: Schemas['Location'] }): ReactNode {
  const { fiscalDays: texts } = useTexts().locations;
  const canRead = useScope('orders:read');
  const canWrite = useScope('orders:write');
  return (
    <Stack gap="sm" component="section">
      <Group justify="space-between" align="flex-end">
        <div>
          <Title order={2} size="h4">
            {texts.title}
          </Title>
          <Text c="dimmed" size="sm">
            {texts.text(location.fiscal_day_end, location.time_zone)}
          </Text>
        </div>
        {canWrite && <CloseDay location={location} />}
      </Group>
      {canRead ? <ClosedDays id={location.id} /> : <Text c="dimmed">{texts.notAllowed}</Text>}
    </Stack>
  );
}

function ClosedDays({ id }: { id: string }): ReactNode {
  const { fiscalDays: texts } = useTexts().locations;
  const list = useList({
    queryKey: [...locationKey(id), 'fiscal-days'],
    load: (position, options) => gateway.fiscalDays.list(id, position, options),
    idOf: ({ date }) => date,
    isLive: true,
  });
  return (
    <DataTable
      label={texts.title}
      columns={useColumns()}
      list={list}
      rowKey={({ date }) => date}
      empty={<EmptyState icon={IconCalendarCheck} text={texts.empty} />}
    />
  );
}

function useColumns(): Column<Schemas['FiscalDay']>[] {
  const { fiscalDays: texts } = useTexts().locations;
  const own = useOwnTexts(taxTexts);
  const format = useFormat();
  const closers: Record<string, string> = texts.closers;
  return [
    {
      key: 'date',
      header: texts.date,
      cell: ({ date }) => (
        <Text size="sm" fw={500}>
          {date}
        </Text>
      ),
    },
    {
      key: 'orders',
      header: texts.orders,
      align: 'end',
      cell: ({ order_count }) => format.number(order_count),
    },
    {
      key: 'total',
      header: texts.total,
      align: 'end',
      cell: ({ total, currency }) => format.money(total, currency),
    },
    {
      key: 'taxes',
      header: own.taxes,
      align: 'end',
      cell: ({ tax_lines: lines = [], currency }) =>
        lines
          .filter(({ amount }) => amount > 0)
          .map(({ rate_ppm, amount }) => (
            <div key={rate_ppm}>{own.ofDay(showRate(format, rate_ppm), format.money(amount, currency))}</div>
          )),
    },
    { key: 'closed_by', header: texts.closedBy, width: 120, cell: ({ closed_by: by }) => closers[by] ?? by },
    { key: 'closed', header: texts.closed, align: 'end', cell: ({ closed_at }) => <Time value={closed_at} /> },
  ];
}

function CloseDay({ location }: { location: Schemas['Location'] }): ReactNode {
  const { fiscalDays: texts } = useTexts().locations;
  const { id } = location;
  const queryClient = useQueryClient();
  const notify = useNotify();
  const [date, setDate] = useState<string>();
  const last = useQuery({
    queryKey: [...locationKey(id), 'last-fiscal-day'],
    queryFn: async ({ signal }) => {
      const page = await gateway.fiscalDays.list(id, { limit: 1 }, { signal });
      return page.data[0]?.date ?? null;
    },
    enabled: useScope('orders:read'),
  });
  const close = useMutation({
    mutationFn: (day: string) => gateway.fiscalDays.close(id, day),
    onSuccess: (closed) => {
      setDate(undefined);
      notify(texts.done(closed.date));
      void queryClient.invalidateQueries({ queryKey: locationKey(id) });
    },
  });
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconCalendarCheck size={16} />}
        onClick={() => {
          close.reset();
          setDate(currentFiscalDate(location, new Date(), last.data ?? undefined));
        }}
      >
        {texts.close}
      </Button>
      <ConfirmDialog
        isOpen={date !== undefined}
        title={texts.closeTitle}
        text={texts.closeText}
        confirm={texts.closeConfirm}
        onConfirm={() => {
          if (date !== undefined && date !== '') close.mutate(date);
        }}
        onClose={() => {
          setDate(undefined);
        }}
        isPending={close.isPending}
        error={close.error}
      >
        <TextInput
          type="date"
          label={texts.closeDate}
          maw={200}
          value={date ?? ''}
          onChange={(event) => {
            setDate(event.currentTarget.value);
          }}
        />
      </ConfirmDialog>
    </>
  );
}
