import { Paper, Table, Text, Title } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { modifierTexts } from '../../shared/modifier-texts.ts';
import { showRate } from '../../shared/rates.ts';
import { taxTexts } from '../../shared/tax-texts.ts';
import { useFormat, useOwnTexts, useTexts } from '../../shared/texts.tsx';
import classes from './order-items.module.css';

/** The lines of an order with their modifiers, and what they cost together. */
export function OrderItems({ order }: { order: Schemas['Order'] }): ReactNode {
  const { detail: texts } = useTexts().orders;
  const own = useOwnTexts(modifierTexts);
  const format = useFormat();
  const { currency } = order;
  const named = (group: string | undefined, modifier: string): string =>
    group === undefined ? modifier : own.inGroup(group, modifier);
  const money = (minor: number): string => format.money(minor, currency);
  return (
    <Paper withBorder component="section">
      <Title order={2} size="h4" px="lg" pt="lg" pb="xs">
        {texts.items}
      </Title>
      <Table className={classes.table} aria-label={texts.items}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.item}</Table.Th>
            <Table.Th className={classes.price} ta="end">
              {texts.price}
            </Table.Th>
            <Table.Th ta="end">{texts.quantity}</Table.Th>
            <Table.Th ta="end">{texts.amount}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {order.items.map((item, position) => (
            <Table.Tr key={position}>
              <Table.Td>
                <Text size="sm" fw={500}>
                  {item.name}
                </Text>
                {item.modifiers.map((modifier, place) => (
                  <Text key={place} size="xs" c="dimmed">
                    {named(modifier.group, texts.modifier(format.number(modifier.quantity), modifier.name))}{' '}
                    {modifier.price > 0 && texts.modifierPrice(money(modifier.price))}
                  </Text>
                ))}
              </Table.Td>
              <Table.Td className={classes.price} ta="end">
                {money(item.unit_price)}
              </Table.Td>
              <Table.Td ta="end">{format.number(item.quantity)}</Table.Td>
              <Table.Td ta="end">{money(item.total)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <dl className={classes.totals}>
        <Sums order={order} />
      </dl>
    </Paper>
  );
}

/** What an order costs, with the taxes by rate. */
export function Sums({ order }: { order: Schemas['CalculatedOrder'] | Schemas['Order'] }): ReactNode {
  const { detail: texts } = useTexts().orders;
  const own = useOwnTexts(taxTexts);
  const format = useFormat();
  const { currency, prices_include_tax: isIncluded, tax_lines: lines, subtotal, taxes, fees, total } = order;
  const money = (minor: number): string => format.money(minor, currency);
  const taxRows = lines?.map(({ rate_ppm, base, amount }): [string, number] => {
    const rate = showRate(format, rate_ppm);
    return [(isIncluded ? own.included : own.taxLine)(rate, money(base)), amount];
  }) ?? [[texts.taxes, taxes]];
  const rows: [string, number][] = [
    [texts.subtotal, subtotal],
    ...(isIncluded ? [] : taxRows),
    [texts.fees, fees],
    [texts.total, total],
    // They are part of what is above.
    ...(isIncluded ? taxRows : []),
  ];
  return rows.map(([label, amount]) => (
    <div key={label} data-total={label === texts.total || undefined}>
      <dt>{label}</dt>
      <dd>{money(amount)}</dd>
    </div>
  ));
}
