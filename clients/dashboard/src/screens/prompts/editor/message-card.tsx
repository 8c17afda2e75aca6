import { ActionIcon, Group, NativeSelect, Paper, Tooltip } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconGripVertical, IconPhotoPlus, IconTrash } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import type { KnownVariable } from '../code/template-marks.ts';
import type { CacheHint } from '../content/cache-hint.ts';
import { readImage } from '../content/image-url.ts';
import { newPart, roles, type DraftMessage } from '../content/prompt-draft.ts';
import { CacheHintMenu } from './cache-hint-menu.tsx';
import classes from './message-card.module.css';
import { MessageContent } from './message-content.tsx';

interface MessageCardProps {
  readonly message: DraftMessage;
  /** From 1. */
  readonly position: number;
  readonly count: number;
  readonly variables: readonly KnownVariable[];
  readonly isReadOnly: boolean;
  readonly isDragged: boolean;
  readonly onChange: (key: string, changed: Partial<DraftMessage>) => void;
  readonly onRemove: (key: string) => void;
  readonly onStep: (key: string, by: 1 | -1) => void;
  readonly onDrag: (key: string | undefined) => void;
}

/** One message: its role, its content, and what moves and removes it. */
export function MessageCard({
  message: { key, role, content },
  position,
  count,
  variables,
  isReadOnly,
  isDragged,
  onChange,
  onRemove,
  onStep,
  onDrag,
}: MessageCardProps): ReactNode {
  const { prompts } = useTexts();
  const texts = prompts.messages;
  // A later release can have stored another role; it stays selectable.
  const known = roles.some((one) => one === role) ? roles : [...roles, role];
  const [fileMistake, setFileMistake] = useState<'type' | 'size'>();
  const parts = typeof content === 'string' ? [newPart({ type: 'text', text: content })] : content;
  const addImage = (url: string): void => {
    // An image in place of a message that says nothing yet.
    const before = parts.filter(({ type, text }, index) => index > 0 || type !== 'text' || text !== '');
    onChange(key, { content: [...before, newPart({ type: 'image', url })] });
  };
  const setHint = (hint: CacheHint | undefined): void => {
    const { cache_control: _before, ...last } = parts.at(-1) ?? newPart({ type: 'text', text: '' });
    const now = { ...last, ...(hint && { cache_control: hint }) };
    const isText = hint === undefined && parts.length === 1 && now.type === 'text';
    onChange(key, { content: isText ? (now.text ?? '') : [...parts.slice(0, -1), now] });
  };
  const takeFile = async (file: File, replaced?: string): Promise<void> => {
    const read = await readImage(file);
    setFileMistake('mistake' in read ? read.mistake : undefined);
    if ('mistake' in read) return;
    const { url } = read;
    if (replaced === undefined) addImage(url);
    else onChange(key, { content: parts.map((part) => (part.key === replaced ? { ...part, url } : part)) });
  };
  const button = (label: string, icon: ReactNode, isDisabled: boolean, onClick: () => void): ReactNode => (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} disabled={isDisabled} onClick={onClick}>
        {icon}
      </ActionIcon>
    </Tooltip>
  );
  return (
    <Paper
      withBorder
      component="section"
      aria-label={texts.label(position)}
      className={classes.card}
      data-message={key}
      data-dragged={isDragged || undefined}
      onDragOver={(event) => {
        if (!isReadOnly && event.dataTransfer.types.includes('Files')) event.preventDefault();
      }}
      // Before the text editor, which would insert the bytes of the file.
      onDropCapture={(event) => {
        const [file] = event.dataTransfer.files;
        if (isReadOnly || file === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        void takeFile(file);
      }}
    >
      <Group gap={4} className={classes.head} wrap="nowrap">
        {!isReadOnly && (
          <ActionIcon
            className={classes.handle}
            data-handle={key}
            draggable
            aria-label={texts.move(position)}
            title={texts.moveHint}
            onDragStart={(event) => {
              event.dataTransfer.effectAllowed = 'move';
              event.dataTransfer.setData('text/plain', '');
              onDrag(key);
            }}
            onDragEnd={() => {
              onDrag(undefined);
            }}
            onKeyDown={(event) => {
              if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
              event.preventDefault();
              onStep(key, event.key === 'ArrowUp' ? -1 : 1);
            }}
          >
            <IconGripVertical size={16} />
          </ActionIcon>
        )}
        <NativeSelect
          size="xs"
          aria-label={texts.role(position)}
          value={role}
          disabled={isReadOnly}
          data={known.map((value) => ({ value, label: prompts.roles[value] ?? value }))}
          onChange={(event) => {
            onChange(key, { role: event.currentTarget.value });
          }}
        />
        {!isReadOnly && (
          <Group gap={2} ms="auto" wrap="nowrap">
            <CacheHintMenu
              place={texts.label(position)}
              value={parts.at(-1)?.cache_control}
              isReadOnly={isReadOnly}
              onChange={setHint}
            />
            {button(texts.addImage(position), <IconPhotoPlus size={16} />, false, () => {
              addImage('');
            })}
            {button(texts.up(position), <IconArrowUp size={16} />, position === 1, () => {
              onStep(key, -1);
            })}
            {button(texts.down(position), <IconArrowDown size={16} />, position === count, () => {
              onStep(key, 1);
            })}
            {button(texts.remove(position), <IconTrash size={16} />, count === 1, () => {
              onRemove(key);
            })}
          </Group>
        )}
      </Group>
      <MessageContent
        content={content}
        position={position}
        variables={variables}
        isReadOnly={isReadOnly}
        fileMistake={fileMistake}
        onFile={(file, replaced) => {
          void takeFile(file, replaced);
        }}
        onChange={(changed) => {
          onChange(key, { content: changed });
        }}
      />
    </Paper>
  );
}
