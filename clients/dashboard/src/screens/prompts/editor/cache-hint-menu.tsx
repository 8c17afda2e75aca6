import { ActionIcon, Menu, Tooltip } from '@mantine/core';
import { IconBookmark, IconBookmarkFilled, IconCheck } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import type { CacheHint } from '../content/cache-hint.ts';

const en = {
  label: (place: string) => `Provider's cache: ${place}`,
  explained: 'Everything up to here stays in the provider’s own cache, and costs less the next time.',
  choices: {
    none: 'No hint',
    provider: 'Keep for the usual time',
    '5m': 'Keep for 5 minutes',
    '1h': 'Keep for 1 hour',
  },
};
const de: typeof en = {
  label: (place) => `Cache des Anbieters: ${place}`,
  explained: 'Alles bis hierher bleibt im Cache des Anbieters und kostet beim nächsten Mal weniger.',
  choices: {
    none: 'Kein Hinweis',
    provider: 'Behalten, so lange wie üblich',
    '5m': '5 Minuten behalten',
    '1h': '1 Stunde behalten',
  },
};
const texts = { en, de };

const hints: Readonly<Record<keyof typeof en.choices, CacheHint | undefined>> = {
  none: undefined,
  provider: { type: 'ephemeral' },
  '5m': { type: 'ephemeral', ttl: '5m' },
  '1h': { type: 'ephemeral', ttl: '1h' },
};

function choiceOf(value: CacheHint | undefined): keyof typeof hints {
  if (value === undefined) return 'none';
  if (value.ttl === '5m') return '5m';
  return value.ttl === '1h' ? '1h' : 'provider';
}

/** Whether the provider is asked to keep what ends here. */
export function CacheHintMenu({
  place,
  value,
  isReadOnly,
  onChange,
}: {
  /** What ends here, such as `Message 1`. */
  place: string;
  value: CacheHint | undefined;
  isReadOnly: boolean;
  onChange: (value: CacheHint | undefined) => void;
}): ReactNode {
  const own = texts[useTexts().prompts.generation.language];
  const chosen = choiceOf(value);
  const said = `${own.label(place)}. ${own.choices[chosen]}`;
  return (
    <Menu
      position="bottom-end"
      width={260}
      disabled={isReadOnly}
      withinPortal={false}
      withInitialFocusPlaceholder={false}
    >
      <Tooltip label={said}>
        <Menu.Target>
          <ActionIcon aria-label={said} disabled={isReadOnly} color={value === undefined ? 'gray' : 'accent'}>
            {value === undefined ? <IconBookmark size={16} /> : <IconBookmarkFilled size={16} />}
          </ActionIcon>
        </Menu.Target>
      </Tooltip>
      <Menu.Dropdown>
        <Menu.Label>{own.explained}</Menu.Label>
        {(Object.keys(hints) as (keyof typeof hints)[]).map((name) => (
          <Menu.Item
            key={name}
            rightSection={name === chosen ? <IconCheck size={14} /> : undefined}
            onClick={() => {
              onChange(hints[name]);
            }}
          >
            {own.choices[name]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
