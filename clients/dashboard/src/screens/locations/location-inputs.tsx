import { Paper, Select, SimpleGrid, Stack, Switch, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useMemo, type ReactNode } from 'react';
import { locationName } from '../../generated/limits.ts';
import { currencyCodes } from '../../shared/money.ts';
import { taxTexts } from '../../shared/tax-texts.ts';
import { useLanguage, useOwnTexts, useTexts } from '../../shared/texts.tsx';
import type { LocationFields } from './location-fields.ts';
import { ZonesEditor } from './zones-editor.tsx';

/** Choices that are shown at once; more appear when something is typed. */
const shownChoices = 60;

/** The fields of a location. The currency of a present one cannot be changed. */
export function LocationInputs({
  form,
  isNew,
}: {
  form: UseFormReturnType<LocationFields>;
  isNew: boolean;
}): ReactNode {
  const { form: texts } = useTexts().locations;
  const own = useOwnTexts(taxTexts);
  const { currencies, timeZones } = useChoices(form.values.timeZone);
  return (
    <Stack gap="md">
      <Paper withBorder p="lg">
        <Stack gap="lg">
          <TextInput
            label={texts.name}
            placeholder={texts.namePlaceholder}
            maxLength={locationName.maxLength}
            required
            {...form.getInputProps('name')}
          />
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
            <Select
              label={texts.currency}
              description={texts.currencyDescription}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              data={currencies}
              limit={shownChoices}
              searchable
              required
              disabled={!isNew}
              {...form.getInputProps('currency')}
              onChange={(value) => {
                form.setFieldValue('currency', value ?? '');
              }}
            />
            <Select
              label={texts.timeZone}
              data={timeZones}
              limit={shownChoices}
              searchable
              required
              {...form.getInputProps('timeZone')}
              onChange={(value) => {
                form.setFieldValue('timeZone', value ?? '');
              }}
            />
          </SimpleGrid>
          <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="lg">
            <TextInput
              label={texts.fiscalDayEnd}
              description={texts.fiscalDayEndDescription}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              type="time"
              {...form.getInputProps('fiscalDayEnd')}
            />
            {(['tax', 'fee'] as const).map((rate) => (
              <TextInput
                key={rate}
                label={texts[rate]}
                description={texts.rateDescription}
                inputWrapperOrder={['label', 'input', 'description', 'error']}
                inputMode="decimal"
                autoComplete="off"
                rightSection={texts.percent}
                {...form.getInputProps(rate)}
              />
            ))}
          </SimpleGrid>
          <Switch
            label={own.pricesIncludeTax}
            description={own.pricesIncludeTaxDescription}
            {...form.getInputProps('pricesIncludeTax', { type: 'checkbox' })}
          />
        </Stack>
      </Paper>
      <ZonesEditor form={form} />
    </Stack>
  );
}

/** Currencies by name, and the time zones that the browser knows. The service decides which it accepts. */
function useChoices(timeZone: string): {
  currencies: { value: string; label: string }[];
  timeZones: string[];
} {
  const { language } = useLanguage();
  const currencies = useMemo(() => {
    const names = new Intl.DisplayNames(language, { type: 'currency' });
    return currencyCodes.map((code) => ({ value: code, label: `${code} – ${names.of(code) ?? ''}` }));
  }, [language]);
  const timeZones = useMemo(
    () => [...new Set([...(timeZone === '' ? [] : [timeZone]), 'UTC', ...Intl.supportedValuesOf('timeZone')])],
    [timeZone],
  );
  return { currencies, timeZones };
}
