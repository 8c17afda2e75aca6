import { ActionIcon, Box, Group, Tooltip } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { RunSelect, type RunChoice } from '../content/run-select.tsx';

/** One of several versions, with a button that removes it. */
export function RunRow({
  name,
  removal,
  prompt,
  value,
  latest,
  onChange,
  onRemove,
}: {
  name: string;
  /** What the button does. */
  removal: string;
  prompt: Schemas['Prompt'];
  value: RunChoice;
  /** As in `RunSelect`. */
  latest: string | undefined;
  onChange: (value: RunChoice) => void;
  onRemove: () => void;
}): ReactNode {
  return (
    <Group gap="xs" wrap="nowrap" align="flex-end" role="group" aria-label={name}>
      <Box flex={1} miw={0}>
        <RunSelect prompt={prompt} value={value} {...(latest !== undefined && { latest })} onChange={onChange} />
      </Box>
      <Tooltip label={removal}>
        <ActionIcon mb={6} aria-label={removal} onClick={onRemove}>
          <IconTrash size={16} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}
