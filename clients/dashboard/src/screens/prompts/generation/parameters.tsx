import { NativeSelect, NumberInput, TagsInput } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { generationParametersInput } from '../../../generated/limits.ts';
import { useTexts } from '../../../shared/texts.tsx';
import { useServiceMistake } from '../editor/service-mistakes.ts';
import classes from './generation.module.css';
import { section, yesOrNo, type GenerationWords } from './section.ts';
import { TriStateField } from './tri-state-field.tsx';

type Names = Readonly<Record<string, string>>;

const en = {
  title: 'Parameters',
  names: {
    temperature: 'Temperature',
    top_p: 'Top P',
    top_k: 'Top K',
    max_output_tokens: 'Maximum output tokens',
    seed: 'Seed',
    presence_penalty: 'Presence penalty',
    frequency_penalty: 'Frequency penalty',
    stop: 'Stop sequences',
    reasoning_effort: 'Reasoning effort',
    parallel_tool_calls: 'Parallel tool calls',
  } as Names,
  inSummary: {
    temperature: 'temperature',
    top_p: 'top P',
    top_k: 'top K',
    max_output_tokens: 'output tokens',
    seed: 'seed',
    presence_penalty: 'presence penalty',
    frequency_penalty: 'frequency penalty',
    stop: 'stop sequences',
    reasoning_effort: 'reasoning',
    parallel_tool_calls: 'parallel tool calls',
  } as Names,
  efforts: {
    none: 'None',
    minimal: 'Minimal',
    low: 'Low',
    medium: 'Medium',
    high: 'High',
    xhigh: 'Extra high',
  } as Names,
  stopDescription: 'Texts that end the answer. Enter adds one; write \\n for a line break.',
  saved: (value: string) => `${value} (saved)`,
};
const de: typeof en = {
  title: 'Parameter',
  names: {
    temperature: 'Temperatur',
    top_p: 'Top P',
    top_k: 'Top K',
    max_output_tokens: 'Höchstzahl der Ausgabe-Tokens',
    seed: 'Seed',
    presence_penalty: 'Presence Penalty',
    frequency_penalty: 'Frequency Penalty',
    stop: 'Stoppsequenzen',
    reasoning_effort: 'Denkaufwand',
    parallel_tool_calls: 'Parallele Tool-Aufrufe',
  },
  inSummary: {
    temperature: 'Temperatur',
    top_p: 'Top P',
    top_k: 'Top K',
    max_output_tokens: 'Ausgabe-Tokens',
    seed: 'Seed',
    presence_penalty: 'Presence Penalty',
    frequency_penalty: 'Frequency Penalty',
    stop: 'Stoppsequenzen',
    reasoning_effort: 'Denkaufwand',
    parallel_tool_calls: 'parallele Tool-Aufrufe',
  },
  efforts: {
    none: 'Keiner',
    minimal: 'Minimal',
    low: 'Niedrig',
    medium: 'Mittel',
    high: 'Hoch',
    xhigh: 'Sehr hoch',
  },
  stopDescription:
    'Texte, die die Antwort beenden. Mit der Eingabetaste hinzufügen; \\n steht für einen Zeilenumbruch.',
  saved: (value) => `${value} (gespeichert)`,
};
const texts = { en, de };

export type Parameters = Readonly<Schemas['GenerationParameters']>;

/** The parameters, in the order in which they are shown. */
const order = Object.keys(en.names) as (keyof Parameters)[];
/** Those that are numbers, with the steps of their buttons; 1, and no decimals, if left out. */
const numbers = [
  'temperature',
  'top_p',
  'top_k',
  'max_output_tokens',
  'seed',
  'presence_penalty',
  'frequency_penalty',
] as const;
const steps: Readonly<Record<string, number>> = {
  temperature: 0.1,
  top_p: 0.05,
  presence_penalty: 0.1,
  frequency_penalty: 0.1,
};

/** The parameters of a generation. What is empty is not sent. */
export const parameters = section<Parameters, typeof en>({
  texts,
  cleared: { parameters: null },
  read: (content) => content.parameters ?? {},
  write: (value) => (Object.keys(value).length === 0 ? {} : { parameters: value }),
  mistakes: () => new Map(),
  summary: (value, _, words) => parametersSummary(value, words),
  describe(value, { title, names }, words) {
    const all = [...new Set([...order, ...(Object.keys(value) as (keyof Parameters)[])])];
    const set = all.filter((name) => value[name] !== undefined);
    return [[title, set.map((name) => `${names[name] ?? name}: ${parameterText(name, value[name], words)}`)]];
  },
  Fields: ParameterFields,
});

/** The name of the section. */
export function parametersTitle({ language }: GenerationWords): string {
  return texts[language].title;
}

/** The parameters that are set, in few words. */
export function parametersSummary(value: Parameters, words: GenerationWords): string[] {
  const { inSummary } = texts[words.language];
  const set = order.filter((name) => value[name] !== undefined);
  return set.map((name) => `${inSummary[name] ?? name} ${parameterText(name, value[name], words)}`);
}

function parameterText(name: string, value: unknown, words: GenerationWords): string {
  if (Array.isArray(value)) return value.map((one) => `"${stopText(String(one))}"`).join(', ');
  if (typeof value === 'boolean') return yesOrNo(value, words) ?? '';
  return name === 'reasoning_effort' ? (texts[words.language].efforts[String(value)] ?? String(value)) : String(value);
}

/** A stop sequence on one line: line breaks and other invisible characters as JSON writes them. */
function stopText(stop: string): string {
  return JSON.stringify(stop).slice(1, -1);
}

/** The stop sequence that was typed like this. */
function stopOf(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

/** The parameters with another value of one of them, in one order, so that the same parameters are the same text. */
function withParameter<Name extends keyof Parameters>(
  value: Parameters,
  name: Name,
  changed: Parameters[Name] | undefined,
): Parameters {
  const next = { ...value, [name]: changed };
  const names = [...new Set([...order, ...(Object.keys(next) as (keyof Parameters)[])])];
  return Object.fromEntries(names.flatMap((one) => (next[one] === undefined ? [] : [[one, next[one]]])));
}

/** @param saved what an empty field means; the provider's defaults if left out */
export function ParameterFields({
  value,
  onChange,
  saved = {},
  isReadOnly = false,
}: {
  value: Parameters;
  onChange: (value: Parameters) => void;
  saved?: Parameters;
  isReadOnly?: boolean;
}): ReactNode {
  const words = useTexts().prompts.generation;
  const own = texts[words.language];
  const mistakeAt = useServiceMistake();
  const set = <Name extends keyof Parameters>(name: Name, changed: Parameters[Name] | undefined): void => {
    onChange(withParameter(value, name, changed));
  };
  const unset = (name: keyof Parameters): string | undefined =>
    saved[name] === undefined ? undefined : own.saved(parameterText(name, saved[name], words));
  const efforts = Object.entries(own.efforts).map(([effort, label]) => ({ value: effort, label }));
  const { reasoning_effort: effort = '' } = value;
  return (
    <>
      <div className={classes.grid}>
        {numbers.map((name) => {
          const { minimum, maximum } = generationParametersInput[name];
          const step = steps[name];
          return (
            <NumberInput
              key={name}
              size="xs"
              label={own.names[name]}
              placeholder={unset(name) ?? words.providerDefault}
              min={minimum}
              max={maximum}
              step={step ?? 1}
              allowDecimal={step !== undefined}
              allowNegative={minimum < 0}
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
          label={own.names['reasoning_effort']}
          disabled={isReadOnly}
          value={effort}
          error={mistakeAt('parameters.reasoning_effort')}
          data={[
            { value: '', label: unset('reasoning_effort') ?? words.providerDefault },
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
          label={own.names['parallel_tool_calls'] ?? ''}
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
        label={own.names['stop']}
        description={own.stopDescription}
        placeholder={unset('stop')}
        maxTags={generationParametersInput.stop.maxItems}
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
