import { ActionIcon, Button, Group, Select, Stack, Text, Tooltip } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useTexts } from '../../../../shared/texts.tsx';
import { newOptions, type DraftOptions, type GenerationMistake } from '../../content/generation-draft.ts';
import { useServiceMistake } from '../service-mistakes.ts';
import { JsonField } from './json-field.tsx';

/** The most providers with options that the service takes. */
const mostOptions = 20;

/** Options that only one provider has, as JSON. */
export function OptionList({
  options,
  providers,
  suggested,
  mistakes,
  isReadOnly,
  onChange,
}: {
  options: readonly DraftOptions[];
  providers: readonly Schemas['Provider'][];
  /** The provider of the next options; empty: none. */
  suggested: string;
  mistakes: ReadonlyMap<string, GenerationMistake>;
  isReadOnly: boolean;
  onChange: (options: readonly DraftOptions[]) => void;
}): ReactNode {
  const texts = useTexts().prompts.generation;
  const mistakeAt = useServiceMistake();
  const textOf = (place: string): string | undefined => {
    const mistake = mistakes.get(place);
    return mistake === undefined ? undefined : texts.mistakes[mistake];
  };
  const set = (key: string, changed: Partial<DraftOptions>): void => {
    onChange(options.map((one) => (one.key === key ? { ...one, ...changed } : one)));
  };
  return (
    <>
      <Text size="xs" c="dimmed">
        {texts.options.description}
      </Text>
      {options.map(({ key, provider, options: text }) => (
        <Stack key={key} gap="xs" role="group" aria-label={texts.options.options(provider)}>
          <Group gap="xs" wrap="nowrap" align="flex-end">
            <Select
              size="xs"
              flex={1}
              maw={320}
              label={texts.options.provider}
              data={[
                ...new Map([
                  ...(provider === '' ? [] : [[provider, provider] as const]),
                  ...providers.map(({ id, name }) => [id, name] as const),
                ]),
              ].map(([value, label]) => ({ value, label }))}
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
              <Tooltip label={texts.options.remove(provider)}>
                <ActionIcon
                  aria-label={texts.options.remove(provider)}
                  onClick={() => {
                    onChange(options.filter((one) => one.key !== key));
                  }}
                >
                  <IconTrash size={16} />
                </ActionIcon>
              </Tooltip>
            )}
          </Group>
          <JsonField
            label={texts.options.options(provider)}
            value={text}
            mistake={textOf(`${key}.options`) ?? mistakeAt(`provider_options.${provider}`)}
            isReadOnly={isReadOnly}
            onChange={(typed) => {
              set(key, { options: typed });
            }}
          />
        </Stack>
      ))}
      {!isReadOnly && options.length < mostOptions && (
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={() => {
              const isTaken = options.some(({ provider }) => provider === suggested);
              onChange([...options, newOptions(isTaken ? '' : suggested)]);
            }}
          >
            {texts.options.add}
          </Button>
        </Group>
      )}
    </>
  );
}
