import { ActionIcon, Checkbox, Group, NumberInput, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconMinus, IconPlus, IconSearch } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { quantity as limits } from '../../generated/limits.ts';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import classes from './new-order.module.css';
import type { Line, OrderFields } from './order-fields.ts';

/** From this number of products there is a search field. */
const many = 8;

/** Products with their quantities, by category; chosen ones show their modifiers. */
export function ProductPicker({
  form,
  products,
  categories,
  offered,
}: {
  form: UseFormReturnType<OrderFields>;
  products: readonly Schemas['Product'][];
  categories: readonly Schemas['Category'][];
  offered: number;
}): ReactNode {
  const { form: texts } = useTexts().orders;
  const format = useFormat();
  const [search, setSearch] = useState('');
  const { lines } = form.values;
  const names = new Map(categories.map(({ id, name }) => [id, name]));
  const wanted = search.trim().toLocaleLowerCase();
  const shown = products.filter(({ name }) => name.toLocaleLowerCase().includes(wanted));
  const groups = [...Map.groupBy(shown, ({ category_id }) => names.get(category_id) ?? '')].sort(
    ([one], [other]) => Number(one === '') - Number(other === '') || one.localeCompare(other),
  );
  const change = (id: string, line: Line): void => {
    const { [id]: _, ...others } = lines;
    form.setFieldValue('lines', line.quantity === 0 ? others : { ...lines, [id]: line });
  };
  return (
    <Paper withBorder component="section">
      <Stack gap="sm" p="lg">
        <div>
          <Title order={2} size="h4">
            {texts.products}
          </Title>
          <Text c="dimmed" size="sm">
            {products.length >= offered ? texts.first(format.number(offered)) : texts.productsText}
          </Text>
        </div>
        {products.length >= many && (
          <TextInput
            aria-label={texts.search}
            placeholder={texts.search}
            leftSection={<IconSearch size={14} aria-hidden />}
            value={search}
            onChange={(event) => {
              setSearch(event.currentTarget.value);
            }}
          />
        )}
        {shown.length === 0 && (
          <Text c="dimmed" size="sm">
            {texts.noMatch}
          </Text>
        )}
      </Stack>
      {groups.map(([category, own]) => (
        <section key={category} aria-label={category === '' ? texts.products : category}>
          {category !== '' && <h3 className={classes.category}>{category}</h3>}
          <ul className={classes.products}>
            {own.map((product) => (
              <ProductLine
                key={product.id}
                product={product}
                line={lines[product.id] ?? { quantity: 0, modifiers: [] }}
                onChange={(line) => {
                  change(product.id, line);
                }}
              />
            ))}
          </ul>
        </section>
      ))}
    </Paper>
  );
}

function ProductLine({
  product,
  line,
  onChange,
}: {
  product: Schemas['Product'];
  line: Line;
  onChange: (line: Line) => void;
}): ReactNode {
  const { form: texts } = useTexts().orders;
  const format = useFormat();
  const { name, price, currency, modifiers } = product;
  const setQuantity = (quantity: number): void => {
    onChange({ ...line, quantity: Math.max(0, Math.min(limits.maximum, quantity)) });
  };
  return (
    <li data-chosen={line.quantity > 0 || undefined}>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <div style={{ minWidth: 0 }}>
          <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Text>
          <Text size="sm" c="dimmed" className={classes.amount}>
            {format.money(price, currency)}
          </Text>
        </div>
        <Group gap={4} wrap="nowrap">
          <ActionIcon
            variant="default"
            size="input-sm"
            aria-label={texts.less(name)}
            disabled={line.quantity === 0}
            onClick={() => {
              setQuantity(line.quantity - 1);
            }}
          >
            <IconMinus size={16} stroke={1.75} />
          </ActionIcon>
          <NumberInput
            className={classes.quantity}
            w={56}
            hideControls
            allowDecimal={false}
            allowNegative={false}
            min={0}
            max={limits.maximum}
            aria-label={texts.quantityOf(name)}
            value={line.quantity}
            onChange={(value) => {
              setQuantity(typeof value === 'number' ? value : 0);
            }}
          />
          <ActionIcon
            variant="default"
            size="input-sm"
            aria-label={texts.more(name)}
            disabled={line.quantity >= limits.maximum}
            onClick={() => {
              setQuantity(line.quantity + 1);
            }}
          >
            <IconPlus size={16} stroke={1.75} />
          </ActionIcon>
        </Group>
      </Group>
      {line.quantity > 0 && modifiers.length > 0 && (
        <Checkbox.Group
          aria-label={texts.modifiersOf(name)}
          value={line.modifiers}
          onChange={(chosen) => {
            onChange({ ...line, modifiers: chosen });
          }}
        >
          <Group gap="md">
            {modifiers.map((modifier) => (
              <Checkbox
                key={modifier.id}
                size="xs"
                value={modifier.id}
                label={texts.withModifier(modifier.name, format.money(modifier.price, currency))}
              />
            ))}
          </Group>
        </Checkbox.Group>
      )}
    </li>
  );
}
