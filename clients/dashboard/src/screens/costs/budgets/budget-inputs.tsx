import {
  Autocomplete,
  NativeSelect,
  NumberInput,
  Paper,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useMemo, type ReactNode } from 'react';
import { budgetInput, budgetLimitInput, budgetName } from '../../../generated/limits.ts';
import { useTexts } from '../../../shared/texts.tsx';
import { scopeKinds, splitScope, type BudgetFields, type ScopeKind } from './budget-fields.ts';
import { useAuthors, useCaller, useKeyNames } from '../../../shared/use-authors.ts';
import { usePromptNames } from './queries.ts';

/** Choices that are shown at once; more appear when something is typed. */
const shownChoices = 60;

type Form = UseFormReturnType<BudgetFields>;

/** The fields of a budget. The name of a present one cannot be changed. */
export function BudgetInputs({ form, isNew }: { form: Form; isNew: boolean }): ReactNode {
  const { form: texts, periods } = useTexts().costs.budgets;
  const zones = useMemo(
    () => [...new Set([form.values.timeZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])].filter(Boolean),
    [form.values.timeZone],
  );
  const below = ['label', 'input', 'description', 'error'] as const;
  return (
    <Paper withBorder p="lg">
      <Stack gap="lg">
        <TextInput
          label={texts.name}
          description={isNew ? texts.nameDescription : undefined}
          placeholder="checkout"
          maxLength={budgetName.maxLength}
          disabled={!isNew}
          required
          {...form.getInputProps('name')}
        />
        <ScopeInputs form={form} />
        <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="lg">
          <TextInput
            label={texts.limit}
            description={texts.limitDescription}
            inputWrapperOrder={[...below]}
            leftSection="$"
            inputMode="decimal"
            autoComplete="off"
            maxLength={budgetLimitInput.amount.maxLength}
            required
            {...form.getInputProps('limit')}
          />
          <NativeSelect
            label={texts.period}
            data={Object.entries(periods).map(([value, label]) => ({ value, label }))}
            {...form.getInputProps('period')}
          />
          {form.values.period !== 'once' && (
            <Select
              label={texts.timeZone}
              description={texts.timeZoneDescription}
              inputWrapperOrder={[...below]}
              data={zones}
              limit={shownChoices}
              searchable
              required
              {...form.getInputProps('timeZone')}
              onChange={(value) => {
                form.setFieldValue('timeZone', value ?? '');
              }}
            />
          )}
        </SimpleGrid>
        <NumberInput
          label={texts.assumedTokens}
          description={texts.assumedTokensDescription}
          placeholder={texts.noAssumedTokens}
          min={budgetInput.assume_max_output_tokens.minimum}
          max={budgetInput.assume_max_output_tokens.maximum}
          allowDecimal={false}
          allowNegative={false}
          {...form.getInputProps('assumedTokens')}
        />
        <NativeSelect
          label={texts.unpriced}
          description={texts.unpricedDescription}
          data={Object.entries(texts.unpricedChoices).map(([value, label]) => ({ value, label }))}
          {...form.getInputProps('unpriced')}
        />
        <TagsInput
          label={texts.thresholds}
          description={texts.thresholdsDescription}
          maxTags={budgetInput.thresholds.maxItems}
          clearable
          {...form.getInputProps('thresholds')}
        />
      </Stack>
    </Paper>
  );
}

/** Which calls count. Keys, prompts and tags are those that exist, as far as the user may see them. */
function ScopeInputs({ form }: { form: Form }): ReactNode {
  const { form: texts } = useTexts().costs.budgets;
  const [kind, value] = splitScope(form.values.scope);
  const keys = useKeyNames();
  const callers = useAuthors(({ status }) => status === 'active');
  const chosen = useCaller(kind === 'key' && value !== '' ? value : undefined);
  const prompts = usePromptNames();
  const { error } = form.getInputProps('scope');
  const set = (of: ScopeKind, to: string): void => {
    form.setFieldValue('scope', of === 'all' ? of : `${of} ${to}`);
  };
  const choices = {
    key: [...(callers ?? []), { value: 'administrator', label: 'administrator' }],
    prompt: (prompts.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
  };
  const tags = (keys.data ?? []).flatMap(({ limits }) =>
    Object.entries(limits?.tags ?? {}).map(([name, of]) => `${name}=${of}`),
  );
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
      <NativeSelect
        label={texts.scope}
        data={scopeKinds.map((of) => ({ value: of, label: texts.scopeKinds[of] }))}
        value={kind}
        onChange={(event) => {
          const to = event.currentTarget.value;
          set(scopeKinds.find((of) => of === to) ?? 'all', '');
        }}
      />
      {kind === 'tag' && (
        <Autocomplete
          label={texts.scopeValues.tag}
          description={texts.tagDescription}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          placeholder="team=checkout"
          data={[...new Set(tags)]}
          limit={shownChoices}
          required
          value={value}
          error={error as ReactNode}
          onChange={(to) => {
            set('tag', to);
          }}
        />
      )}
      {(kind === 'key' || kind === 'prompt') && (
        <Select
          label={texts.scopeValues[kind]}
          description={kind === 'key' ? texts.keyDescription : undefined}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          data={
            value === '' || choices[kind].some((choice) => choice.value === value)
              ? choices[kind]
              : [{ value, label: chosen?.name ?? value }, ...choices[kind]]
          }
          limit={shownChoices}
          searchable
          required
          value={value === '' ? null : value}
          error={error as ReactNode}
          onChange={(to) => {
            set(kind, to ?? '');
          }}
        />
      )}
    </SimpleGrid>
  );
}
