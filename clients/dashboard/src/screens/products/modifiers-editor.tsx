import { ActionIcon, Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { modifierName, modifiersInput } from '../../generated/limits.ts';
import { useTexts } from '../../shared/texts.tsx';
import { AmountInput } from './amount-input.tsx';
import type { ModifierFields, ProductFields } from './product-fields.ts';

/** What can be added to a product, with its price. */
export function ModifiersEditor({
  form,
  currency,
}: {
  form: UseFormReturnType<ProductFields>;
  currency: string;
}): ReactNode {
  const { form: texts } = useTexts().products;
  return (
    <Paper withBorder p="lg">
      <Stack gap="sm">
        <div>
          <Text fw={600} component="h2" m={0}>
            {texts.modifiers}
          </Text>
          <Text c="dimmed" size="sm">
            {texts.modifiersDescription}
          </Text>
        </div>
        <ModifierList
          form={form}
          currency={currency}
          path="modifiers"
          modifiers={form.values.modifiers}
          least={0}
          labels={{ name: texts.modifierName, price: texts.modifierPrice, add: undefined }}
        />
      </Stack>
    </Paper>
  );
}

/** Modifiers that can be added, changed and removed. */
export function ModifierList({
  form,
  currency,
  path,
  modifiers,
  least,
  labels,
}: {
  form: UseFormReturnType<ProductFields>;
  currency: string;
  /** Of the list in the form. */
  path: string;
  modifiers: readonly ModifierFields[];
  /** How many cannot be removed. */
  least: number;
  /** What inputs are called, by position, and the button, if not by its text. */
  labels: { name: (position: string) => string; price: (position: string) => string; add: string | undefined };
}): ReactNode {
  const { form: texts } = useTexts().products;
  return (
    <>
      {modifiers.map((modifier, position) => (
        <Group key={position} gap="xs" align="flex-start" wrap="nowrap">
          <TextInput
            flex={1}
            miw={0}
            aria-label={labels.name(String(position + 1))}
            placeholder={texts.modifierPlaceholder}
            maxLength={modifierName.maxLength}
            {...form.getInputProps(`${path}.${position}.name`)}
          />
          <AmountInput
            w={{ base: 120, sm: 160 }}
            currency={currency}
            aria-label={labels.price(String(position + 1))}
            {...form.getInputProps(`${path}.${position}.price`)}
          />
          <ActionIcon
            size="input-sm"
            variant="subtle"
            color="gray"
            disabled={modifiers.length <= least}
            aria-label={texts.removeModifier(modifier.name === '' ? String(position + 1) : modifier.name)}
            onClick={() => {
              form.removeListItem(path, position);
            }}
          >
            <IconTrash size={16} stroke={1.75} />
          </ActionIcon>
        </Group>
      ))}
      <Group>
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconPlus size={14} />}
          disabled={modifiers.length >= modifiersInput.maxItems}
          aria-label={labels.add}
          onClick={() => {
            form.insertListItem(path, { name: '', price: '' });
          }}
        >
          {texts.addModifier}
        </Button>
      </Group>
    </>
  );
}
