import { Button, Group, Stack, VisuallyHidden } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { memo, useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { messagesInput } from '../../../generated/limits.ts';
import { useTexts } from '../../../shared/texts.tsx';
import type { KnownVariable } from '../code/template-marks.ts';
import { newMessage, type DraftMessage } from '../content/prompt-draft.ts';
import { MessageCard } from './message-card.tsx';

type Update = (change: (messages: readonly DraftMessage[]) => readonly DraftMessage[]) => void;

interface MessageListProps {
  readonly messages: readonly DraftMessage[];
  readonly variables: readonly KnownVariable[];
  readonly isReadOnly: boolean;
  readonly onChange: Update;
}

/** The most messages that the service takes. */
const mostMessages = messagesInput.maxItems;

const Card = memo(MessageCard);

/** The messages of a prompt in their order. They are moved with a mouse, with buttons, or with arrow keys. */
export function MessageList({ messages, variables, isReadOnly, onChange }: MessageListProps): ReactNode {
  const texts = useTexts().prompts.messages;
  const [dragged, setDragged] = useState<string>();
  const [announcement, setAnnouncement] = useState('');
  const focused = useRef<string>(undefined);
  const list = useRef<HTMLDivElement>(null);
  const keys = messages.map(({ key }) => key);

  const change = useCallback(
    (key: string, changed: Partial<DraftMessage>) => {
      onChange((all) => all.map((message) => (message.key === key ? { ...message, ...changed } : message)));
    },
    [onChange],
  );
  const remove = useCallback(
    (key: string) => {
      onChange((all) => all.filter((message) => message.key !== key));
    },
    [onChange],
  );
  const move = useCallback(
    (key: string, place: (index: number) => number) => {
      onChange((all) => {
        const from = all.findIndex((message) => message.key === key);
        const to = Math.min(Math.max(place(from), 0), all.length - 1);
        const moved = all[from];
        if (moved === undefined || from === to) return all;
        return all.toSpliced(from, 1).toSpliced(to, 0, moved);
      });
    },
    [onChange],
  );
  const step = useCallback(
    (key: string, by: 1 | -1) => {
      focused.current = key;
      move(key, (index) => index + by);
    },
    [move],
  );

  // A browser takes the focus from an element that is moved.
  useEffect(() => {
    const key = focused.current;
    if (key === undefined) return;
    focused.current = undefined;
    list.current?.querySelector<HTMLElement>(`[data-handle="${key}"]`)?.focus();
    setAnnouncement(texts.movedTo(messages.findIndex((message) => message.key === key) + 1, messages.length));
  }, [messages, texts]);

  return (
    <Stack gap="sm">
      <Stack
        gap="sm"
        ref={list}
        onDragOver={(event) => {
          if (dragged === undefined) return;
          event.preventDefault();
          const card = (event.target as Element).closest<HTMLElement>('[data-message]');
          const over = keys.indexOf(card?.dataset['message'] ?? '');
          if (card === null || over === -1) return;
          // Only beyond its middle, or cards of different heights would change places again and again.
          const { top, height } = card.getBoundingClientRect();
          const isBeyond = event.clientY > top + height / 2;
          const from = keys.indexOf(dragged);
          if (over > from ? isBeyond : !isBeyond) move(dragged, () => over);
        }}
        onDrop={(event) => {
          event.preventDefault();
        }}
      >
        {messages.map((message, index) => (
          <Card
            key={message.key}
            message={message}
            position={index + 1}
            count={messages.length}
            variables={variables}
            isReadOnly={isReadOnly}
            isDragged={dragged === message.key}
            onChange={change}
            onRemove={remove}
            onStep={step}
            onDrag={setDragged}
          />
        ))}
      </Stack>
      <VisuallyHidden role="status">{announcement}</VisuallyHidden>
      {!isReadOnly && messages.length < mostMessages && (
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={() => {
              onChange((all) => [...all, newMessage(all.at(-1)?.role === 'user' ? 'assistant' : 'user')]);
            }}
          >
            {texts.add}
          </Button>
        </Group>
      )}
    </Stack>
  );
}
