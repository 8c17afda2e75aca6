import { Divider, Group, Stack, Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import classes from './new-order.module.css';
import type { Line } from './order-fields.ts';
import table from './order-items.module.css';
import { Sums } from './order-items.tsx';

/** What was chosen and what it costs. */
export function OrderSummary({
  lines,
  products,
  currency,
  calculated,
}: {
  lines: Readonly<Record<string, Line>>;
  products: readonly Schemas['Product'][];
  currency: string;
  /** As the service calculates it; undefined as long as it has not. */
  calculated: Schemas['CalculatedOrder'] | undefined;
}): ReactNode {
  const { detail } = useTexts().orders;
  const format = useFormat();
  const rows = products.flatMap((product) => {
    const line = lines[product.id];
    if (line === undefined) return [];
    const grouped = (product.modifier_groups ?? []).flatMap(({ modifiers }) => modifiers);
    const chosen = [...grouped, ...product.modifiers].flatMap((modifier) => {
      const count = line.modifiers[modifier.id] ?? 0;
      return count === 0 ? [] : [{ ...modifier, count }];
    });
    const unit = chosen.reduce((sum, { price, count }) => sum + price * count, product.price);
    return [{ product, chosen, quantity: line.quantity, total: unit * line.quantity }];
  });
  return (
    <Stack gap="xs">
      {rows.map(({ product, chosen, quantity, total }) => (
        <Group key={product.id} justify="space-between" align="flex-start" wrap="nowrap" gap="sm">
          <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
            <Text size="sm">{detail.modifier(format.number(quantity), product.name)}</Text>
            {chosen.length > 0 && (
              <Text size="xs" c="dimmed">
                {format.list(
                  chosen.map(({ name, count }) => (count === 1 ? name : detail.modifier(format.number(count), name))),
                )}
              </Text>
            )}
          </div>
          <Text size="sm" className={classes.amount}>
            {format.money(total, currency)}
          </Text>
        </Group>
      ))}
      {calculated === undefined ? (
        <Divider />
      ) : (
        <dl className={table.totals} aria-live="polite" style={{ paddingInline: 0 }}>
          <Sums order={calculated} />
        </dl>
      )}
    </Stack>
  );
}
