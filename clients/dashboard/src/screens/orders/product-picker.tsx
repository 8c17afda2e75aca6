import { ActionIcon, Checkbox, Group, NumberInput, Paper, Radio, Stack, Text, TextInput, Title } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconMinus, IconPlus, IconSearch } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { quantity as limits } from '../../generated/limits.ts';
import { modifierTexts } from '../../shared/modifier-texts.ts';
import { useFormat, useOwnTexts, useTexts } from '../../shared/texts.tsx';
import classes from './new-order.module.css';
import { countOf, type Line, type ModifierGroup, type OrderFields } from './order-fields.ts';

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
                isChecked={form.errors[`lines.${product.id}`] !== undefined}
                line={lines[product.id] ?? { quantity: 0, modifiers: {} }}
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
  isChecked,
  onChange,
}: {
  product: Schemas['Product'];
  line: Line;
  /** Whether what is missing is a mistake: the order was to be placed. */
  isChecked: boolean;
  onChange: (line: Line) => void;
}): ReactNode {
  const { form: texts } = useTexts().orders;
  const format = useFormat();
  const { name, price, currency, modifiers, modifier_groups: groups = [] } = product;
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
      {line.quantity > 0 &&
        groups.map((group) => (
          <GroupChoice
            key={group.name}
            product={name}
            group={group}
            currency={currency}
            line={line}
            isChecked={isChecked}
            onChange={(chosen) => {
              onChange({ ...line, modifiers: chosen });
            }}
          />
        ))}
      {line.quantity > 0 && modifiers.length > 0 && (
        <Checkbox.Group
          aria-label={texts.modifiersOf(name)}
          value={modifiers.flatMap(({ id }) => (line.modifiers[id] === undefined ? [] : [id]))}
          onChange={(chosen) => {
            onChange({ ...line, modifiers: chooseOnly(line, modifiers, chosen) });
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

/** The modifiers of a line, with only these chosen of some of the product's. */
function chooseOnly(
  { modifiers }: Line,
  some: Schemas['Product']['modifiers'],
  chosen: readonly string[],
): Record<string, number> {
  const ids = new Set(some.map(({ id }) => id));
  const others = Object.entries(modifiers).filter(([id]) => !ids.has(id));
  return Object.fromEntries([...others, ...chosen.map((id) => [id, modifiers[id] ?? 1] as const)]);
}

/** The choice from a group, as far as it may go. */
function GroupChoice({
  product,
  group,
  currency,
  line,
  isChecked,
  onChange,
}: {
  product: string;
  group: ModifierGroup;
  currency: string;
  line: Line;
  isChecked: boolean;
  onChange: (modifiers: Record<string, number>) => void;
}): ReactNode {
  const { form: texts } = useTexts().orders;
  const own = useOwnTexts(modifierTexts);
  const format = useFormat();
  const { name, min, max, modifiers } = group;
  const [least, most] = [format.number(min), format.number(max)];
  const rule = min === max ? own.exactly(least) : min === 0 ? own.upTo(most) : own.between(least, most);
  const count = countOf(group, line);
  const shared = {
    label: own.title(name, rule),
    error: isChecked && count < min && own.missing(format.number(min - count)),
    size: 'xs',
  } as const;
  const labelOf = (modifier: Schemas['Product']['modifiers'][number]): string =>
    modifier.price === 0 ? modifier.name : texts.withModifier(modifier.name, format.money(modifier.price, currency));
  const chosen = modifiers.flatMap(({ id }) => (line.modifiers[id] === undefined ? [] : [id]));
  if (min === 1 && max === 1) {
    return (
      <Radio.Group
        {...shared}
        name={`${product} ${name}`}
        value={chosen[0] ?? null}
        onChange={(id) => {
          onChange(chooseOnly(line, modifiers, [id]));
        }}
      >
        <Group gap="md" mt={4}>
          {modifiers.map((modifier) => (
            <Radio key={modifier.id} size="xs" value={modifier.id} label={labelOf(modifier)} />
          ))}
        </Group>
      </Radio.Group>
    );
  }
  return (
    <Checkbox.Group
      {...shared}
      value={chosen}
      onChange={(ids) => {
        onChange(chooseOnly(line, modifiers, ids));
      }}
    >
      <Group gap="md" mt={4}>
        {modifiers.map((modifier) => {
          const taken = line.modifiers[modifier.id] ?? 0;
          return (
            <Group key={modifier.id} gap={6} wrap="nowrap">
              <Checkbox
                size="xs"
                value={modifier.id}
                label={labelOf(modifier)}
                disabled={taken === 0 && count >= max}
              />
              {taken > 0 && max > 1 && (
                <NumberInput
                  className={classes.quantity}
                  w={44}
                  size="xs"
                  hideControls
                  allowDecimal={false}
                  allowNegative={false}
                  min={1}
                  max={taken + max - count}
                  clampBehavior="strict"
                  aria-label={own.quantityOf(modifier.name)}
                  value={taken}
                  onChange={(value) => {
                    if (typeof value === 'number') onChange({ ...line.modifiers, [modifier.id]: Math.max(1, value) });
                  }}
                />
              )}
            </Group>
          );
        })}
      </Group>
    </Checkbox.Group>
  );
}
