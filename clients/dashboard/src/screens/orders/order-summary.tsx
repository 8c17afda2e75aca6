import { Divider, Group, Stack, Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import classes from './new-order.module.css';
import type { Line } from './order-fields.ts';

/** What was chosen and what it costs, before taxes and fees. */
export function OrderSummary({
  lines,
  products,
  currency,
}: {
  lines: Readonly<Record<string, Line>>;
  products: readonly Schemas['Product'][];
  currency: string;
}): ReactNode {
  const { form: texts, detail } = useTexts().orders;
  const format = useFormat();
  const rows = products.flatMap((product) => {
    const line = lines[product.id];
    if (line === undefined) return [];
    const chosen = product.modifiers.filter(({ id }) => line.modifiers.includes(id));
    const unit = chosen.reduce((sum, { price }) => sum + price, product.price);
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
                {format.list(chosen.map(({ name }) => name))}
              </Text>
            )}
          </div>
          <Text size="sm" className={classes.amount}>
            {format.money(total, currency)}
          </Text>
        </Group>
      ))}
      <Divider />
      <Group justify="space-between" aria-live="polite">
        <Text fw={600}>{texts.subtotal}</Text>
        <Text fw={600} className={classes.amount}>
          {format.money(
            rows.reduce((sum, { total }) => sum + total, 0),
            currency,
          )}
        </Text>
      </Group>
      <Text size="xs" c="dimmed">
        {texts.taxNote}
      </Text>
    </Stack>
  );
}
