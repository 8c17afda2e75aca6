import { Group, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ReactNode } from 'react';
import { modifierName, modifiersInput } from '../../generated/limits.ts';
import { AddEntry, RemoveEntry } from '../../shared/form-list.tsx';
import { Section } from '../../shared/section.tsx';
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
    <Section title={texts.modifiers} description={texts.modifiersDescription}>
      <ModifierList
        form={form}
        currency={currency}
        path="modifiers"
        modifiers={form.values.modifiers}
        least={0}
        labels={{ name: texts.modifierName, price: texts.modifierPrice, add: undefined }}
      />
    </Section>
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
          <RemoveEntry
            form={form}
            path={path}
            position={position}
            aria-label={texts.removeModifier(modifier.name === '' ? String(position + 1) : modifier.name)}
            disabled={modifiers.length <= least}
          />
        </Group>
      ))}
      <AddEntry
        form={form}
        path={path}
        entry={{ name: '', price: '' }}
        disabled={modifiers.length >= modifiersInput.maxItems}
        aria-label={labels.add}
      >
        {texts.addModifier}
      </AddEntry>
    </>
  );
}
