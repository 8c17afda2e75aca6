import { NativeSelect, NumberInput, TagsInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTexts } from '../../../../shared/texts.tsx';
import { withParameter, type Parameters } from '../../content/generation-draft.ts';
import { parameterText, stopOf, stopText } from '../../content/generation-text.ts';
import { useServiceMistake } from '../service-mistakes.ts';
import { TriStateField } from './choice-field.tsx';
import classes from './generation.module.css';

interface ParameterFieldsProps {
  readonly value: Parameters;
  readonly onChange: (value: Parameters) => void;
  /** What an empty field means; the provider's defaults if left out. */
  readonly saved?: Parameters;
  readonly isReadOnly?: boolean;
}

type NumberName =
  'temperature' | 'top_p' | 'top_k' | 'max_output_tokens' | 'seed' | 'presence_penalty' | 'frequency_penalty';

/** Bounds of the contract. */
const bounds: Readonly<Record<NumberName, { min: number; max: number; step?: number }>> = {
  temperature: { min: 0, max: 2, step: 0.1 },
  top_p: { min: 0, max: 1, step: 0.05 },
  top_k: { min: 1, max: 100_000 },
  max_output_tokens: { min: 1, max: 10_000_000 },
  seed: { min: 0, max: 2_147_483_647 },
  presence_penalty: { min: -2, max: 2, step: 0.1 },
  frequency_penalty: { min: -2, max: 2, step: 0.1 },
};
const mostStops = 16;

/** The parameters of a generation. What is empty is not sent. */
export function ParameterFields({ value, onChange, saved = {}, isReadOnly = false }: ParameterFieldsProps): ReactNode {
  const texts = useTexts().prompts.generation;
  const mistakeAt = useServiceMistake();
  const set = <Name extends keyof Parameters>(name: Name, changed: Parameters[Name] | undefined): void => {
    onChange(withParameter(value, name, changed));
  };
  const unset = (name: keyof Parameters): string | undefined =>
    saved[name] === undefined ? undefined : texts.parameters.saved(parameterText(name, saved[name], texts));
  const efforts = Object.entries(texts.parameters.efforts).map(([effort, label]) => ({ value: effort, label }));
  const { reasoning_effort: effort = '' } = value;
  return (
    <>
      <div className={classes.grid}>
        {(Object.keys(bounds) as NumberName[]).map((name) => {
          const { min, max, step } = bounds[name];
          return (
            <NumberInput
              key={name}
              size="xs"
              label={texts.parameters.names[name]}
              placeholder={unset(name) ?? texts.providerDefault}
              min={min}
              max={max}
              step={step ?? 1}
              allowDecimal={step !== undefined}
              allowNegative={min < 0}
              decimalSeparator="."
              readOnly={isReadOnly}
              value={value[name] ?? ''}
              error={mistakeAt(`parameters.${name}`)}
              onChange={(typed) => {
                set(name, typeof typed === 'number' ? typed : undefined);
              }}
            />
          );
        })}
        <NativeSelect
          size="xs"
          label={texts.parameters.names['reasoning_effort']}
          disabled={isReadOnly}
          value={effort}
          error={mistakeAt('parameters.reasoning_effort')}
          data={[
            { value: '', label: unset('reasoning_effort') ?? texts.providerDefault },
            // A later release can have stored another one; it stays selectable.
            ...efforts,
            ...(effort === '' || efforts.some((known) => known.value === effort)
              ? []
              : [{ value: effort, label: effort }]),
          ]}
          onChange={(event) => {
            const chosen = event.currentTarget.value;
            set(
              'reasoning_effort',
              chosen === '' ? undefined : (chosen as NonNullable<Parameters['reasoning_effort']>),
            );
          }}
        />
        <TriStateField
          label={texts.parameters.names['parallel_tool_calls'] ?? ''}
          value={value.parallel_tool_calls}
          unset={unset('parallel_tool_calls')}
          mistake={mistakeAt('parameters.parallel_tool_calls')}
          isReadOnly={isReadOnly}
          onChange={(chosen) => {
            set('parallel_tool_calls', chosen);
          }}
        />
      </div>
      <TagsInput
        size="xs"
        label={texts.parameters.names['stop']}
        description={texts.parameters.stopDescription}
        placeholder={unset('stop')}
        maxTags={mostStops}
        splitChars={[]}
        readOnly={isReadOnly}
        value={(value.stop ?? []).map(stopText)}
        error={mistakeAt('parameters.stop')}
        onChange={(typed) => {
          set('stop', typed.length === 0 ? undefined : typed.map(stopOf));
        }}
      />
    </>
  );
}
