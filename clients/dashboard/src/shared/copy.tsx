import { ActionIcon, CopyButton as MantineCopyButton, Group, Text, TextInput, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './copy.module.css';
import { useTexts } from './texts.tsx';

/**
 * A button that copies a text.
 * @param label what is copied, for screen readers: “Copy Application ID”
 */
export function CopyButton({
  value,
  label,
  size = 'sm',
}: {
  value: string;
  label: string;
  size?: 'xs' | 'sm';
}): ReactNode {
  const { shared } = useTexts();
  return (
    <MantineCopyButton value={value} timeout={1_500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? shared.copied : shared.copy}>
          <ActionIcon
            size={size}
            className={classes.button}
            aria-label={copied ? shared.copied : shared.copyOf(label)}
            onClick={(event) => {
              event.preventDefault();
              event.stopPropagation();
              copy();
            }}
          >
            {copied ? <IconCheck size={14} /> : <IconCopy size={14} stroke={1.75} />}
          </ActionIcon>
        </Tooltip>
      )}
    </MantineCopyButton>
  );
}

/** A field that can be read and copied, such as a new secret. */
export function CopyField({
  value,
  label,
  description,
}: {
  value: string;
  label: string;
  description?: string;
}): ReactNode {
  return (
    <TextInput
      readOnly
      label={label}
      description={description}
      value={value}
      classNames={{ input: classes.mono ?? '' }}
      rightSection={<CopyButton value={value} label={label} />}
      onFocus={(event) => {
        event.currentTarget.select();
      }}
    />
  );
}

/**
 * An id in monospace, with a button that copies it. Long ids wrap.
 * @param withLabel writes the label before the id
 */
export function CopyableId({
  value,
  label,
  withLabel = false,
}: {
  value: string;
  label: string;
  withLabel?: boolean;
}): ReactNode {
  return (
    <Group gap={4} wrap="nowrap" miw={0} maw="100%" display="inline-flex">
      {withLabel && (
        <Text span size="sm" style={{ whiteSpace: 'nowrap' }}>
          {label}
        </Text>
      )}
      <span className={classes.id}>{value}</span>
      <CopyButton value={value} label={label} size="xs" />
    </Group>
  );
}
