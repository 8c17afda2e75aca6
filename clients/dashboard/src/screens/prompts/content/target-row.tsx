import { ActionIcon, Box, Group, Tooltip } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import { TargetSelect, type Target } from './target-select.tsx';

/** One of several targets, with a button that removes it. */
export function TargetRow({
  name,
  removal,
  providers,
  value,
  onChange,
  onRemove,
  canRemove = true,
  children,
}: {
  name: string;
  /** What the button does. */
  removal: string;
  providers: readonly Schemas['Provider'][];
  value: Target;
  onChange: (value: Target) => void;
  onRemove: () => void;
  canRemove?: boolean;
  /** What else is chosen for it. */
  children?: ReactNode;
}): ReactNode {
  const { testRuns } = useTexts().prompts;
  return (
    <Group gap="xs" wrap="nowrap" align="flex-end" role="group" aria-label={name}>
      <Box flex={1} miw={0}>
        {children}
        <TargetSelect providers={providers} value={value} placeholder={testRuns.chooseProvider} onChange={onChange} />
      </Box>
      <Tooltip label={removal}>
        <ActionIcon
          mb={6}
          {...(!canRemove && { bg: 'none' })}
          aria-label={removal}
          disabled={!canRemove}
          onClick={onRemove}
        >
          <IconTrash size={16} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}
