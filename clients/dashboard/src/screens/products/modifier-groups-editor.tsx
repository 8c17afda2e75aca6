import { Group, NumberInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ReactNode } from 'react';
import { modifierGroupMax, modifierGroupMin, modifierGroupName, modifierGroupsInput } from '../../generated/limits.ts';
import { AddEntry, EntryCard } from '../../shared/form-list.tsx';
import { modifierTexts } from '../../shared/modifier-texts.ts';
import { Section } from '../../shared/section.tsx';
import { useOwnTexts } from '../../shared/texts.tsx';
import { ModifierList } from './modifiers-editor.tsx';
import { newGroup, type ProductFields } from './product-fields.ts';

const count = { w: { base: 96, sm: 110 }, allowDecimal: false, allowNegative: false, clampBehavior: 'none' } as const;

/** Groups of modifiers, each with how many an order chooses of it. */
export function ModifierGroupsEditor({
  form,
  currency,
}: {
  form: UseFormReturnType<ProductFields>;
  currency: string;
}): ReactNode {
  const texts = useOwnTexts(modifierTexts);
  const { modifier_groups: groups } = form.values;
  return (
    <Section title={texts.groups} description={texts.groupsDescription}>
      {groups.map(({ name: typed, modifiers }, position) => {
        const name = typed.trim() === '' ? String(position + 1) : typed;
        const path = `modifier_groups.${position}`;
        return (
          <EntryCard
            key={position}
            form={form}
            path="modifier_groups"
            position={position}
            aria-label={texts.groupName(String(position + 1))}
            placeholder={texts.groupPlaceholder}
            maxLength={modifierGroupName.maxLength}
            remove={texts.removeGroup(name)}
          >
            <Group gap="xs" align="flex-start">
              <NumberInput
                {...count}
                label={texts.min}
                aria-label={texts.minOf(name)}
                max={modifierGroupMin.maximum}
                {...form.getInputProps(`${path}.min`)}
              />
              <NumberInput
                {...count}
                label={texts.max}
                aria-label={texts.maxOf(name)}
                max={modifierGroupMax.maximum}
                {...form.getInputProps(`${path}.max`)}
              />
            </Group>
            <ModifierList
              form={form}
              currency={currency}
              path={`${path}.modifiers`}
              modifiers={modifiers}
              least={1}
              labels={{
                name: (place) => texts.nameOf(place, name),
                price: (place) => texts.priceOf(place, name),
                add: texts.addTo(name),
              }}
            />
          </EntryCard>
        );
      })}
      <AddEntry
        form={form}
        path="modifier_groups"
        entry={newGroup()}
        disabled={groups.length >= modifierGroupsInput.maxItems}
      >
        {texts.addGroup}
      </AddEntry>
    </Section>
  );
}
