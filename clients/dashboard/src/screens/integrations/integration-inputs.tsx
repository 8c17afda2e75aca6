import { Paper, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ReactNode } from 'react';
import { integrationName, integrationUrlInput } from '../../generated/limits.ts';
import { LocationPicker } from '../../shared/location-picker.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { EventTypePicker } from './event-type-picker.tsx';
import { FilterInput } from './filter-input.tsx';
import { HeadersEditor } from './headers-editor.tsx';
import type { IntegrationFields } from './integration-fields.ts';

/** The fields that a new and a present integration have in common. */
export function IntegrationInputs({
  form,
  children,
}: {
  form: UseFormReturnType<IntegrationFields>;
  children?: ReactNode;
}): ReactNode {
  const { form: texts } = useTexts().integrations;
  return (
    <Paper withBorder p="lg">
      <Stack gap="lg">
        <TextInput
          label={texts.name}
          placeholder={texts.namePlaceholder}
          maxLength={integrationName.maxLength}
          required
          {...form.getInputProps('name')}
        />
        <TextInput
          label={texts.url}
          description={texts.urlDescription}
          placeholder={texts.urlPlaceholder}
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          maxLength={integrationUrlInput.maxLength}
          required
          {...form.getInputProps('url')}
        />
        <EventTypePicker {...form.getInputProps('eventTypes')} />
        <LocationPicker texts={texts} {...form.getInputProps('locationIds')} />
        <FilterInput form={form} />
        <HeadersEditor form={form} />
        {children}
      </Stack>
    </Paper>
  );
}
