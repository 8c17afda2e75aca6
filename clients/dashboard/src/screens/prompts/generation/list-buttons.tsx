import { ActionIcon, Group, Tooltip } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';

/** Buttons that move and remove an entry of a list that is edited. */
export function ListButtons<Item extends { readonly key: string }>({
  items,
  index,
  texts,
  onChange,
  children,
}: {
  items: readonly Item[];
  index: number;
  texts: { up: (position: number) => string; down: (position: number) => string; remove: (position: number) => string };
  onChange: (items: readonly Item[]) => void;
  /** Further buttons. */
  children?: ReactNode;
}): ReactNode {
  const move = (by: 1 | -1): void => {
    const moved = items[index];
    if (moved !== undefined) onChange(items.toSpliced(index, 1).toSpliced(index + by, 0, moved));
  };
  const button = (label: string, icon: ReactNode, isDisabled: boolean, onClick: () => void): ReactNode => (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} disabled={isDisabled} onClick={onClick}>
        {icon}
      </ActionIcon>
    </Tooltip>
  );
  return (
    <Group gap={2} ms="auto" wrap="nowrap">
      {children}
      {button(texts.up(index + 1), <IconArrowUp size={16} />, index === 0, () => {
        move(-1);
      })}
      {button(texts.down(index + 1), <IconArrowDown size={16} />, index === items.length - 1, () => {
        move(1);
      })}
      {button(texts.remove(index + 1), <IconTrash size={16} />, false, () => {
        onChange(items.toSpliced(index, 1));
      })}
    </Group>
  );
}
