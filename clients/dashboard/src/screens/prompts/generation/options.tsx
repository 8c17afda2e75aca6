import { ActionIcon, Group, Select, Stack, Tooltip } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { providerOptions } from '../../../generated/limits.ts';
import { useTexts } from '../../../shared/texts.tsx';
import { objectMistake, objectOf } from '../content/exact-json.ts';
import { useServiceMistake } from '../editor/service-mistakes.ts';
import { Entries } from './entries.tsx';
import { JsonField } from './json-field.tsx';
import { mistakesFrom, pretty, section, type FieldsProps } from './section.ts';

const en = {
  title: 'Provider options',
  description: 'Options that only one provider has, as its API names them. A call gets only those of its provider.',
  provider: 'Provider',
  options: (provider: string) => `Options of ${provider}`,
  add: 'Add provider options',
  remove: (provider: string) => `Remove the options of ${provider}`,
  summary: (providers: string) => `options of ${providers}`,
  heading: (provider: string) => `Provider options: ${provider}`,
};
const de: typeof en = {
  title: 'Anbieteroptionen',
  description:
    'Optionen, die nur ein Anbieter hat, mit den Namen seiner API. Ein Aufruf erhält nur die seines Anbieters.',
  provider: 'Anbieter',
  options: (provider) => `Optionen von ${provider}`,
  add: 'Anbieteroptionen hinzufügen',
  remove: (provider) => `Optionen von ${provider} entfernen`,
  summary: (providers) => `Optionen von ${providers}`,
  heading: (provider) => `Anbieteroptionen: ${provider}`,
};
const texts = { en, de };

/** The options of one provider. */
interface Options {
  readonly key: string;
  readonly provider: string;
  /** JSON text. */
  readonly json: string;
}

/** Options that only one provider has, as JSON. */
export const options = section<readonly Options[], typeof en>({
  texts,
  cleared: { provider_options: null },
  read: ({ provider_options: stored }) =>
    Object.entries(stored ?? {}).map(([provider, one]) => newOptions(provider, pretty(one))),
  write: (list) =>
    list.length === 0
      ? {}
      : // `fromEntries` makes own members, also of `__proto__`.
        { provider_options: Object.fromEntries(list.map(({ provider, json }) => [provider, objectOf(json) ?? {}])) },
  mistakes: (list) =>
    mistakesFrom(
      list.flatMap(({ key, provider, json }, index) => {
        const isTaken = list.slice(0, index).some((other) => other.provider === provider);
        return [
          [`${key}.provider`, provider === '' ? 'provider' : isTaken && 'taken'],
          [`${key}.options`, objectMistake(json)],
        ] as const;
      }),
    ),
  summary: (list, own) => (list.length === 0 ? [] : [own.summary(list.map(({ provider }) => provider).join(', '))]),
  describe: (list, own) => list.map(({ provider, json }) => [own.heading(provider), [json]]),
  Fields: OptionFields,
});

function newOptions(provider: string, json = '{}'): Options {
  return { key: crypto.randomUUID(), provider, json };
}

function OptionFields(props: FieldsProps<readonly Options[]>): ReactNode {
  const { value, providers, provider: suggested, mistakes, isReadOnly, onChange } = props;
  const words = useTexts().prompts.generation;
  const own = texts[words.language];
  const mistakeAt = useServiceMistake();
  const textOf = (place: string): string | undefined => {
    const mistake = mistakes.get(place);
    return mistake === undefined ? undefined : words.mistakes[mistake];
  };
  const set = (key: string, changed: Partial<Options>): void => {
    onChange(value.map((one) => (one.key === key ? { ...one, ...changed } : one)));
  };
  return (
    <Entries
      description={own.description}
      add={own.add}
      canAdd={!isReadOnly && value.length < providerOptions.maxProperties}
      onAdd={() => {
        const isTaken = value.some(({ provider }) => provider === suggested);
        onChange([...value, newOptions(isTaken ? '' : suggested)]);
      }}
    >
      {value.map(({ key, provider, json }) => (
        <Stack key={key} gap="xs" role="group" aria-label={own.options(provider)}>
          <Group gap="xs" wrap="nowrap" align="flex-end">
            <Select
              size="xs"
              flex={1}
              maw={320}
              label={own.provider}
              data={[
                ...new Map([
                  ...(provider === '' ? [] : [[provider, provider] as const]),
                  ...providers.map(({ id, name }) => [id, name] as const),
                ]),
              ].map(([id, label]) => ({ value: id, label }))}
              searchable
              readOnly={isReadOnly}
              allowDeselect={false}
              value={provider === '' ? null : provider}
              error={textOf(`${key}.provider`)}
              onChange={(chosen) => {
                set(key, { provider: chosen ?? '' });
              }}
            />
            {!isReadOnly && (
              <Tooltip label={own.remove(provider)}>
                <ActionIcon
                  aria-label={own.remove(provider)}
                  onClick={() => {
                    onChange(value.filter((one) => one.key !== key));
                  }}
                >
                  <IconTrash size={16} />
                </ActionIcon>
              </Tooltip>
            )}
          </Group>
          <JsonField
            label={own.options(provider)}
            value={json}
            mistake={textOf(`${key}.options`) ?? mistakeAt(`provider_options.${provider}`)}
            isReadOnly={isReadOnly}
            onChange={(typed) => {
              set(key, { json: typed });
            }}
          />
        </Stack>
      ))}
    </Entries>
  );
}
