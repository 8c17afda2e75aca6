import { Button, Menu } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconBookmark, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import type { Target } from '../content/target-select.tsx';

/** The most sets that are kept. */
const most = 20;

/** Sets of targets that this browser keeps, for all prompts: keeps the chosen ones, and brings one back. */
export function TargetSets({
  targets,
  onChoose,
}: {
  targets: readonly Target[];
  onChoose: (targets: readonly Target[]) => void;
}): ReactNode {
  const { testRuns: texts } = useTexts().prompts;
  const [sets, setSets] = useLocalStorage<readonly (readonly Target[])[]>({
    key: 'prompt-gateway-target-sets',
    defaultValue: [],
  });
  const chosen = targets.map(({ provider, model }) => ({ provider, model }));
  const others = sets.filter((kept) => nameOf(kept) !== nameOf(chosen));
  const isKept = others.length < sets.length;
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button size="xs" variant="subtle" leftSection={<IconBookmark size={14} />}>
          {texts.sets}
        </Button>
      </Menu.Target>
      <Menu.Dropdown maw={360}>
        {sets.map((kept) => (
          <Menu.Item
            key={nameOf(kept)}
            onClick={() => {
              onChoose(kept);
            }}
          >
            {nameOf(kept)}
          </Menu.Item>
        ))}
        {sets.length > 0 && <Menu.Divider />}
        <Menu.Item
          leftSection={isKept ? <IconTrash size={14} /> : <IconBookmark size={14} />}
          onClick={() => {
            setSets(isKept ? others : [chosen, ...others].slice(0, most));
          }}
        >
          {isKept ? texts.forgetSet : texts.keepSet}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function nameOf(targets: readonly Target[]): string {
  return targets.map(({ provider, model }) => [provider, model].filter((part) => part !== '').join(' / ')).join(', ');
}
