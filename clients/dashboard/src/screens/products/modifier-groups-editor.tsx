import { ActionIcon, Button, Group, NumberInput, Paper, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { modifierGroupMax, modifierGroupMin, modifierGroupName, modifierGroupsInput } from '../../generated/limits.ts';
import { modifierTexts } from '../../shared/modifier-texts.ts';
import { useOwnTexts } from '../../shared/texts.tsx';
import { ModifierList } from './modifiers-editor.tsx';
import { newGroup, type ProductFields } from './product-fields.ts';

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
    <Paper withBorder p="lg">
      <Stack gap="md">
        <div>
          <Text fw={600} component="h2" m={0}>
            {texts.groups}
          </Text>
          <Text c="dimmed" size="sm">
            {texts.groupsDescription}
          </Text>
        </div>
        {groups.map((_, position) => (
          <ModifierGroup key={position} form={form} currency={currency} position={position} />
        ))}
        <Group>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconPlus size={14} />}
            disabled={groups.length >= modifierGroupsInput.maxItems}
            onClick={() => {
              form.insertListItem('modifier_groups', newGroup());
            }}
          >
            {texts.addGroup}
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}

function ModifierGroup({
  form,
  currency,
  position,
}: {
  form: UseFormReturnType<ProductFields>;
  currency: string;
  position: number;
}): ReactNode {
  const texts = useOwnTexts(modifierTexts);
  const group = form.values.modifier_groups[position];
  if (group === undefined) return null;
  const path = `modifier_groups.${position}`;
  const name = group.name.trim() === '' ? String(position + 1) : group.name;
  const count = { w: { base: 96, sm: 110 }, allowDecimal: false, allowNegative: false, clampBehavior: 'none' } as const;
  return (
    <Paper bg="var(--surface-sunken)" p="md">
      <Stack gap="sm">
        <Group gap="xs" align="flex-start" wrap="nowrap">
          <TextInput
            flex={1}
            miw={0}
            maw={340}
            aria-label={texts.groupName(String(position + 1))}
            placeholder={texts.groupPlaceholder}
            maxLength={modifierGroupName.maxLength}
            {...form.getInputProps(`${path}.name`)}
          />
          <ActionIcon
            size="input-sm"
            variant="subtle"
            color="gray"
            ml="auto"
            aria-label={texts.removeGroup(name)}
            onClick={() => {
              form.removeListItem('modifier_groups', position);
            }}
          >
            <IconTrash size={16} stroke={1.75} />
          </ActionIcon>
        </Group>
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
          modifiers={group.modifiers}
          least={1}
          labels={{
            name: (place) => texts.nameOf(place, name),
            price: (place) => texts.priceOf(place, name),
            add: texts.addTo(name),
          }}
        />
      </Stack>
    </Paper>
  );
}
