import { ActionIcon, Button, FileButton, Group, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { IconPhotoPlus, IconTextPlus, IconTrash, IconUpload } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { CodeBlock } from '../../../shared/code-block.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import { CodeEditor } from '../code/lazy-code.tsx';
import type { KnownVariable } from '../code/template-marks.ts';
import { imageTypes, isShownImage, largestImage } from '../content/image-url.ts';
import { ImageView } from '../content/image-view.tsx';
import { newPart, type DraftMessage, type DraftPart } from '../content/prompt-draft.ts';
import classes from './message-content.module.css';
import { useServiceMistake } from './service-mistakes.ts';

interface MessageContentProps {
  readonly content: DraftMessage['content'];
  /** Of the message, from 1. */
  readonly position: number;
  readonly variables: readonly KnownVariable[];
  readonly isReadOnly: boolean;
  /** Why the last file was not taken. */
  readonly fileMistake: 'type' | 'size' | undefined;
  /** Puts a file in place of a part, or after all of them. */
  readonly onFile: (file: File, key?: string) => void;
  readonly onChange: (content: DraftMessage['content']) => void;
}

/** What a message says: one text, or texts and images in their order. */
export function MessageContent(props: MessageContentProps): ReactNode {
  const { content, position, variables, isReadOnly, fileMistake, onFile, onChange } = props;
  const { prompts } = useTexts();
  const format = useFormat();
  const mistakeAt = useServiceMistake();
  const place = `messages.${position - 1}.content`;
  const editor = (label: string, value: string, onText: (text: string) => void): ReactNode => (
    <CodeEditor
      language="template"
      label={label}
      value={value}
      variables={variables}
      hints={prompts.hints}
      placeholder={prompts.messages.placeholder}
      isReadOnly={isReadOnly}
      onChange={onText}
    />
  );
  const refused = fileMistake !== undefined && (
    <Text size="sm" c="var(--mantine-color-error)" role="alert" className={classes.note}>
      {prompts.parts.fileMistakes[fileMistake](format.bytes(largestImage))}
    </Text>
  );

  if (typeof content === 'string') {
    const mistake = mistakeAt(place);
    return (
      <>
        {refused}
        {mistake !== undefined && (
          <Text size="xs" c="var(--mantine-color-error)" className={classes.note}>
            {mistake}
          </Text>
        )}
        {editor(prompts.messages.content(position), content, onChange)}
      </>
    );
  }

  const change = (key: string, changed: Partial<DraftPart>): void => {
    onChange(content.map((part) => (part.key === key ? { ...part, ...changed } : part)));
  };
  const remove = (key: string): void => {
    const left = content.filter((part) => part.key !== key);
    const [only] = left;
    // A message with one text is that text.
    const isText = left.length === 1 && only?.type === 'text' && only.cache_control === undefined;
    onChange(isText ? (only.text ?? '') : left);
  };
  return (
    <Stack gap={0}>
      {content.map((part, index) => {
        const name = prompts.parts.label(index + 1, position);
        const mistake = mistakeAt(`${place}.${index}`);
        return (
          <div key={part.key} role="group" aria-label={name} className={classes.part}>
            <Group gap="xs" wrap="nowrap" align="flex-start">
              <div className={classes.field}>
                {part.type === 'text' ? (
                  editor(prompts.parts.text(index + 1, position), part.text ?? '', (text) => {
                    change(part.key, { text });
                  })
                ) : part.type === 'image' ? (
                  <ImageField
                    url={part.url ?? ''}
                    label={prompts.parts.image(index + 1, position)}
                    isReadOnly={isReadOnly}
                    onChange={(url) => {
                      change(part.key, { url });
                    }}
                    onFile={(file) => {
                      onFile(file, part.key);
                    }}
                  />
                ) : (
                  <CodeBlock code={JSON.stringify(part, null, 2)} label={name} />
                )}
              </div>
              {!isReadOnly && (
                <Tooltip label={prompts.parts.remove(index + 1, position)}>
                  <ActionIcon
                    aria-label={prompts.parts.remove(index + 1, position)}
                    disabled={content.length === 1}
                    onClick={() => {
                      remove(part.key);
                    }}
                  >
                    <IconTrash size={16} />
                  </ActionIcon>
                </Tooltip>
              )}
            </Group>
            {mistake !== undefined && (
              <Text size="xs" c="var(--mantine-color-error)">
                {mistake}
              </Text>
            )}
          </div>
        );
      })}
      {refused}
      {!isReadOnly && (
        <Group gap="xs" className={classes.note}>
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<IconTextPlus size={14} />}
            onClick={() => {
              onChange([...content, newPart({ type: 'text', text: '' })]);
            }}
          >
            {prompts.parts.addText}
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<IconPhotoPlus size={14} />}
            onClick={() => {
              onChange([...content, newPart({ type: 'image', url: '' })]);
            }}
          >
            {prompts.parts.addImage}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function ImageField({
  url,
  label,
  isReadOnly,
  onChange,
  onFile,
}: {
  url: string;
  label: string;
  isReadOnly: boolean;
  onChange: (url: string) => void;
  onFile: (file: File) => void;
}): ReactNode {
  const { parts: texts } = useTexts().prompts;
  const isData = isShownImage(url);
  return (
    <Stack gap={6}>
      {isData && <ImageView url={url} label={label} />}
      <Group gap="xs" align="flex-end" wrap="nowrap">
        {!isData && (
          <TextInput
            size="xs"
            flex={1}
            label={label}
            classNames={{ input: classes.mono ?? '' }}
            placeholder="https://images.example.com/{{picture}}.png"
            readOnly={isReadOnly}
            value={url}
            error={url !== '' && !/^(?:https:|data:|\{\{)/i.test(url) && texts.urlMistake}
            onChange={(event) => {
              onChange(event.currentTarget.value);
            }}
          />
        )}
        {!isReadOnly && (
          <Group gap="xs" wrap="nowrap">
            <FileButton
              accept={imageTypes}
              onChange={(file) => {
                if (file !== null) onFile(file);
              }}
            >
              {(button) => (
                <Button {...button} size="xs" variant="default" leftSection={<IconUpload size={14} />}>
                  {isData ? texts.replace : texts.choose}
                </Button>
              )}
            </FileButton>
            {isData && (
              <Button
                size="xs"
                variant="subtle"
                color="gray"
                onClick={() => {
                  onChange('');
                }}
              >
                {texts.useUrl}
              </Button>
            )}
          </Group>
        )}
      </Group>
      {!isData && url.startsWith('https:') && <ImageView url={url} label={label} />}
    </Stack>
  );
}
