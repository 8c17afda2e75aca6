import { ActionIcon, Loader, Menu, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconChevronDown } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTexts } from '../../shared/texts.tsx';
import { useEventTypes } from '../../shared/use-event-types.ts';

/** Chooses the type of a test event, beside the button that sends one without a choice. */
export function SampleMenu({
  onChoose,
  isPending,
}: {
  onChoose: (type: string) => void;
  isPending: boolean;
}): ReactNode {
  const { test: texts } = useTexts().integrations;
  const [isOpen, menu] = useDisclosure(false);
  const types = useEventTypes(isOpen);
  return (
    <Menu opened={isOpen} onChange={menu.set} withinPortal={false} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <ActionIcon variant="default" size={36} aria-label={texts.sample} disabled={isPending}>
          <IconChevronDown size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{texts.sample}</Menu.Label>
        {types.data === undefined && <Loader size="sm" m="sm" />}
        {types.data?.map(({ type }) => (
          <Menu.Item
            key={type}
            onClick={() => {
              onChoose(type);
            }}
          >
            <Text span ff="monospace" size="sm">
              {type}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
