import { Group, NumberInput, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { fallbacksInput, retries as limitsOfRetries } from '../../../generated/limits.ts';
import { useTexts } from '../../../shared/texts.tsx';
import { TargetSelect } from '../content/target-select.tsx';
import { useServiceMistake } from '../editor/service-mistakes.ts';
import { Entries } from './entries.tsx';
import { ListButtons } from './list-buttons.tsx';
import { mistakesFrom, section, type FieldsProps } from './section.ts';

const en = {
  title: 'Fallbacks and retries',
  description:
    'Called in this order if the selected provider fails in a way that another may not: time-out, rate limit, server error.',
  label: (position: number) => `Fallback ${position}`,
  choose: 'Choose a provider',
  add: 'Add fallback',
  up: (position: number) => `Move fallback ${position} up`,
  down: (position: number) => `Move fallback ${position} down`,
  remove: (position: number) => `Remove fallback ${position}`,
  count: (count: number) => (count === 1 ? '1 fallback' : `${count} fallbacks`),
  retries: 'Retries of calls that may have been billed',
  retriesDescription:
    'After a time-out, a broken connection, an invalid answer or a server error. What was surely not billed is repeated in any case.',
  retriesCount: (count: number) => (count === 1 ? '1 retry' : `${count} retries`),
};
const de: typeof en = {
  title: 'Ausweichanbieter und Wiederholungen',
  description:
    'Werden in dieser Reihenfolge aufgerufen, wenn der gewählte Anbieter aus einem Grund ausfällt, den ein anderer vielleicht nicht hat: Zeitüberschreitung, Ratenlimit, Serverfehler.',
  label: (position) => `Ausweichanbieter ${position}`,
  choose: 'Anbieter wählen',
  add: 'Ausweichanbieter hinzufügen',
  up: (position) => `Ausweichanbieter ${position} nach oben`,
  down: (position) => `Ausweichanbieter ${position} nach unten`,
  remove: (position) => `Ausweichanbieter ${position} entfernen`,
  count: (count) => `${count} Ausweichanbieter`,
  retries: 'Wiederholungen von Aufrufen, die vielleicht berechnet wurden',
  retriesDescription:
    'Nach Zeitüberschreitung, abgebrochener Verbindung, ungültiger Antwort oder Serverfehler. Was sicher nicht berechnet wurde, wird in jedem Fall wiederholt.',
  retriesCount: (count) => (count === 1 ? '1 Wiederholung' : `${count} Wiederholungen`),
};
const texts = { en, de };

interface Fallback {
  readonly key: string;
  readonly provider: string;
  /** Empty: the provider's default. */
  readonly model: string;
}

interface Fallbacks {
  readonly list: readonly Fallback[];
  /** How often a call is repeated that may have been billed. */
  readonly retries: number;
}

/** What is called if the selected provider fails. */
export const fallbacks = section<Fallbacks, typeof en>({
  texts,
  cleared: { fallbacks: null, retries: 0 },
  read: ({ fallbacks: stored = [], retries = 0 }) => ({
    list: stored.map(({ provider, model }) => newFallback(provider, model)),
    retries,
  }),
  write: ({ list, retries }) => ({
    ...(list.length > 0 && {
      fallbacks: list.map(({ provider, model }) => ({ provider, ...(model !== '' && { model }) })),
    }),
    ...(retries > 0 && { retries }),
  }),
  mistakes: ({ list }) => mistakesFrom(list.map(({ key, provider }) => [key, provider === '' && 'provider'])),
  summary: ({ list, retries }, own) => [
    ...(list.length > 0 ? [own.count(list.length)] : []),
    ...(retries > 0 ? [own.retriesCount(retries)] : []),
  ],
  describe: ({ list, retries }, own) => [
    [
      own.title,
      [
        ...list.map(({ provider, model }, index) => `${index + 1}. ${provider}${model === '' ? '' : ` / ${model}`}`),
        ...(retries > 0 ? [own.retriesCount(retries)] : []),
      ],
    ],
  ],
  Fields: FallbackFields,
});

function newFallback(provider: string, model = ''): Fallback {
  return { key: crypto.randomUUID(), provider, model };
}

function FallbackFields(props: FieldsProps<Fallbacks>): ReactNode {
  const { value, onChange, mistakes, isChecked, isReadOnly, providers } = props;
  const words = useTexts().prompts.generation;
  const own = texts[words.language];
  const mistakeAt = useServiceMistake();
  const { list } = value;
  const setList = (changed: readonly Fallback[]): void => {
    onChange({ ...value, list: changed });
  };
  return (
    <>
      <Entries
        description={own.description}
        add={own.add}
        canAdd={!isReadOnly && list.length < fallbacksInput.maxItems}
        onAdd={() => {
          setList([...list, newFallback('')]);
        }}
      >
        {list.map((fallback, index) => {
          const { key } = fallback;
          const mistake = isChecked && mistakes.has(key) ? words.mistakes.provider : mistakeAt(`fallbacks.${index}`);
          return (
            <div key={key} role="group" aria-label={own.label(index + 1)}>
              <Group gap={4} wrap="nowrap" mb={2}>
                <Text size="sm" fw={500}>
                  {own.label(index + 1)}
                </Text>
                {!isReadOnly && <ListButtons items={list} index={index} texts={own} onChange={setList} />}
              </Group>
              <TargetSelect
                providers={providers}
                value={fallback}
                placeholder={own.choose}
                isReadOnly={isReadOnly}
                onChange={(target) => {
                  setList(list.map((one) => (one.key === key ? { ...one, ...target } : one)));
                }}
              />
              {mistake !== undefined && (
                <Text size="xs" mt={4} c="var(--mantine-color-error)">
                  {mistake}
                </Text>
              )}
            </div>
          );
        })}
      </Entries>
      <NumberInput
        size="xs"
        label={own.retries}
        description={own.retriesDescription}
        min={limitsOfRetries.minimum}
        max={limitsOfRetries.maximum}
        clampBehavior="strict"
        allowDecimal={false}
        allowNegative={false}
        readOnly={isReadOnly}
        value={value.retries}
        error={mistakeAt('retries')}
        onChange={(typed) => {
          onChange({ ...value, retries: Number(typed) });
        }}
      />
    </>
  );
}
