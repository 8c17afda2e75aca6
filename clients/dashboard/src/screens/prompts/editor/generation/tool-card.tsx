import { ActionIcon, Group, Paper, Stack, Textarea, TextInput, Tooltip, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight, IconCopy } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { useTexts } from '../../../../shared/texts.tsx';
import type { DraftTool, GenerationMistake } from '../../content/generation-draft.ts';
import { useServiceMistake } from '../service-mistakes.ts';
import { TriStateField } from './choice-field.tsx';
import classes from './generation.module.css';
import { JsonField } from './json-field.tsx';
import { ListButtons } from './list-buttons.tsx';

interface ToolCardProps {
  readonly tools: readonly DraftTool[];
  readonly index: number;
  readonly mistakes: ReadonlyMap<string, GenerationMistake>;
  readonly isChecked: boolean;
  readonly isOpenAtFirst: boolean;
  readonly isReadOnly: boolean;
  readonly onChange: (tools: readonly DraftTool[]) => void;
  readonly onDuplicate: () => void;
}

/** One tool. Folded, it is its name and purpose. */
export function ToolCard(props: ToolCardProps): ReactNode {
  const { tools, index, mistakes, isChecked, isOpenAtFirst, isReadOnly, onChange, onDuplicate } = props;
  const texts = useTexts().prompts.generation;
  const mistakeAt = useServiceMistake();
  const [isToggled, setToggled] = useState(isOpenAtFirst);
  const tool = tools[index];
  if (tool === undefined) return null;
  const { key, name, description, strict, parameters } = tool;
  const own = (field: string): string | undefined => {
    const mistake = mistakes.get(`${key}.${field}`);
    if (mistake === undefined) return mistakeAt(`tools.${index}.${field}`);
    return isChecked || name !== '' ? texts.mistakes[mistake] : undefined;
  };
  const set = (changed: Partial<DraftTool>): void => {
    onChange(tools.map((one) => (one.key === key ? { ...one, ...changed } : one)));
  };
  const isOpen = isToggled || own('name') !== undefined || own('parameters') !== undefined;
  const label = texts.tools.label(index + 1);
  return (
    <Paper withBorder component="section" aria-label={label} className={classes.card}>
      <Group gap={4} wrap="nowrap" className={classes.head}>
        <UnstyledButton
          className={classes.name}
          aria-expanded={isOpen}
          onClick={() => {
            setToggled(!isOpen);
          }}
        >
          <Group gap={6} wrap="nowrap" component="span">
            {isOpen ? <IconChevronDown size={16} /> : <IconChevronRight size={16} />}
            <span className={`${classes.name ?? ''} ${classes.mono ?? ''}`}>{name || texts.tools.unnamed}</span>
          </Group>
        </UnstyledButton>
        {!isReadOnly && (
          <ListButtons items={tools} index={index} texts={texts.tools} onChange={onChange}>
            <Tooltip label={texts.tools.duplicate(index + 1)}>
              <ActionIcon aria-label={texts.tools.duplicate(index + 1)} onClick={onDuplicate}>
                <IconCopy size={16} />
              </ActionIcon>
            </Tooltip>
          </ListButtons>
        )}
      </Group>
      {isOpen && (
        <Stack gap="sm" className={classes.body}>
          <div className={classes.grid}>
            <TextInput
              size="xs"
              label={texts.tools.name}
              withAsterisk
              classNames={{ input: classes.mono ?? '' }}
              maxLength={64}
              readOnly={isReadOnly}
              value={name}
              error={own('name')}
              onFocus={() => {
                // It stays open when its mistake is mended.
                setToggled(true);
              }}
              onChange={(event) => {
                set({ name: event.currentTarget.value });
              }}
            />
            <TriStateField
              label={texts.tools.strict}
              value={strict}
              mistake={own('strict')}
              isReadOnly={isReadOnly}
              onChange={(chosen) => {
                set({ strict: chosen });
              }}
            />
          </div>
          <Textarea
            size="xs"
            label={texts.tools.purpose}
            placeholder={texts.tools.purposePlaceholder}
            autosize
            minRows={1}
            maxRows={6}
            maxLength={4000}
            readOnly={isReadOnly}
            value={description}
            error={own('description')}
            onChange={(event) => {
              set({ description: event.currentTarget.value });
            }}
          />
          <JsonField
            label={texts.tools.parameters}
            accessibleName={`${label}: ${texts.tools.parameters}`}
            value={parameters}
            mistake={own('parameters')}
            isReadOnly={isReadOnly}
            onChange={(text) => {
              setToggled(true);
              set({ parameters: text });
            }}
          />
        </Stack>
      )}
    </Paper>
  );
}
