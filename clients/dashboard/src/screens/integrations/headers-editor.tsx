import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { customHeadersInput } from '../../generated/limits.ts';
import { RemoveEntry } from '../../shared/form-list.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { nameRule, valueRule, type HeaderRow } from './header-rules.ts';
import type { IntegrationFields } from './integration-fields.ts';

/** What the service shows instead of a stored credential. */
const mask = '********';

/** The custom headers of an integration. A rule that a header breaks is explained while it is typed. */
export function HeadersEditor({ form }: { form: UseFormReturnType<IntegrationFields> }): ReactNode {
  const { headers: texts } = useTexts().integrations;
  const rows = form.values.headers;
  const explain = (position: number, row: HeaderRow): { name: string | undefined; value: string | undefined } => {
    const others = rows.filter((_, other) => other !== position);
    const isEmpty = row.name === '' && row.value === '';
    const name = isEmpty ? undefined : nameRule(row, others);
    const value = row.value === '' ? undefined : valueRule(row);
    return { name: name && texts.rules[name], value: value && texts.rules[value] };
  };
  return (
    <Stack gap="xs" component="fieldset" bd={0} p={0} m={0}>
      <Text component="legend" fw={500} size="sm" p={0}>
        {texts.title}
      </Text>
      <Text c="dimmed" size="xs">
        {texts.description}
      </Text>
      {rows.map((row, position) => {
        const mistakes = explain(position, row);
        return (
          <Group key={position} gap="xs" align="flex-start" wrap="nowrap">
            <Group gap="xs" align="flex-start" flex={1} grow preventGrowOverflow={false} miw={0}>
              <TextInput
                aria-label={texts.nameOf(position + 1)}
                placeholder={texts.name}
                autoComplete="off"
                spellCheck={false}
                miw={160}
                {...form.getInputProps(`headers.${position}.name`)}
                error={mistakes.name ?? form.errors[`headers.${position}.name`]}
              />
              <TextInput
                aria-label={texts.valueOf(position + 1)}
                placeholder={texts.value}
                autoComplete="off"
                spellCheck={false}
                miw={160}
                description={row.value === mask ? texts.kept : undefined}
                inputWrapperOrder={['input', 'description', 'error']}
                {...form.getInputProps(`headers.${position}.value`)}
                error={mistakes.value ?? form.errors[`headers.${position}.value`]}
              />
            </Group>
            <RemoveEntry
              form={form}
              path="headers"
              position={position}
              aria-label={texts.remove(row.name === '' ? String(position + 1) : row.name)}
            />
          </Group>
        );
      })}
      <Group gap="sm">
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconPlus size={14} />}
          disabled={rows.length >= customHeadersInput.maxProperties}
          onClick={() => {
            form.insertListItem('headers', { name: '', value: '' });
          }}
        >
          {texts.add}
        </Button>
        {rows.length >= customHeadersInput.maxProperties && (
          <Text size="xs" c="dimmed">
            {texts.tooMany}
          </Text>
        )}
      </Group>
      {rows.length > 0 && (
        <Text size="xs" c="dimmed">
          {texts.reservedNames}
        </Text>
      )}
    </Stack>
  );
}
