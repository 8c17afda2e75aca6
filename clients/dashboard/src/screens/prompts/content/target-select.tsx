import { Autocomplete, Select, SimpleGrid } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { modelId } from '../../../generated/limits.ts';
import { fits } from '../../../shared/limits.ts';
import { useTexts } from '../../../shared/texts.tsx';

/** A provider and a model; empty means that none is chosen. */
export interface Target {
  readonly provider: string;
  readonly model: string;
}

interface TargetSelectProps {
  readonly providers: readonly Schemas['Provider'][];
  readonly value: Target;
  readonly onChange: (value: Target) => void;
  /** What happens if no provider is chosen. */
  readonly placeholder: string;
  /** What happens if a provider without a model is chosen; by default its default model runs. */
  readonly modelPlaceholder?: string | undefined;
  readonly isReadOnly?: boolean;
}

/** Chooses a provider that the service knows, and a model, which can be any. */
export function TargetSelect({
  providers,
  value,
  onChange,
  placeholder,
  modelPlaceholder,
  isReadOnly = false,
}: TargetSelectProps): ReactNode {
  const texts = useTexts().prompts.target;
  const provider = providers.find(({ id }) => id === value.provider);
  const options = providers.map(({ id, name, configured }) => ({
    value: id,
    label: configured ? name : texts.notConfigured(name),
  }));
  // What is stored stays selectable, also if the service no longer knows it.
  if (value.provider !== '' && provider === undefined) {
    options.push({ value: value.provider, label: texts.unknown(value.provider) });
  }
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      <Select
        label={texts.provider}
        placeholder={placeholder}
        data={options}
        searchable
        allowDeselect={false}
        clearable={!isReadOnly}
        readOnly={isReadOnly}
        value={value.provider === '' ? null : value.provider}
        onChange={(chosen) => {
          onChange({ provider: chosen ?? '', model: '' });
        }}
        error={provider?.configured === false && texts.notConfiguredHint}
        clearButtonProps={{ 'aria-label': texts.clearProvider }}
      />
      <Autocomplete
        label={texts.model}
        placeholder={provider === undefined ? modelPlaceholder : texts.defaultModel(provider.defaultModel)}
        data={[...new Set(provider?.models ?? [])]}
        limit={50}
        readOnly={isReadOnly}
        value={value.model}
        onChange={(model) => {
          onChange({ ...value, model });
        }}
        error={value.model !== '' && !fits(value.model, modelId) && texts.modelPattern}
      />
    </SimpleGrid>
  );
}
