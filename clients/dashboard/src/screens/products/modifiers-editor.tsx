import { ActionIcon, Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { modifierName, modifiersInput } from '../../generated/limits.ts';
import { useTexts } from '../../shared/texts.tsx';
import { AmountInput } from './amount-input.tsx';
import type { ProductFields } from './product-fields.ts';

/** What can be added to a product, with its price. */
export function ModifiersEditor({
  form,
  currency,
}: {
  form: UseFormReturnType<ProductFields>;
  currency: string;
}): ReactNode {
  const { form: texts } = useTexts().products;
  const { modifiers } = form.values;
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
        {modifiers.map((modifier, position) => (
          <Group key={position} gap="xs" align="flex-start" wrap="nowrap">
            <TextInput
              flex={1}
              miw={0}
              aria-label={texts.modifierName(String(position + 1))}
              placeholder={texts.modifierPlaceholder}
              maxLength={modifierName.maxLength}
              {...form.getInputProps(`modifiers.${position}.name`)}
            />
            <AmountInput
              w={{ base: 120, sm: 160 }}
              currency={currency}
              aria-label={texts.modifierPrice(String(position + 1))}
              {...form.getInputProps(`modifiers.${position}.price`)}
            />
            <ActionIcon
              size="input-sm"
              variant="subtle"
              color="gray"
              aria-label={texts.removeModifier(modifier.name === '' ? String(position + 1) : modifier.name)}
              onClick={() => {
                form.removeListItem('modifiers', position);
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
            onClick={() => {
              form.insertListItem('modifiers', { name: '', price: '' });
            }}
          >
            {texts.addModifier}
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}
