import { Button, Group, NativeSelect, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { useTexts } from '../../../../shared/texts.tsx';
import { choiceOf, newTool, type DraftTool, type GenerationMistake } from '../../content/generation-draft.ts';
import { toolChoiceText } from '../../content/generation-text.ts';
import { useServiceMistake } from '../service-mistakes.ts';
import { ToolCard } from './tool-card.tsx';

interface Tools {
  readonly tools: readonly DraftTool[];
  readonly toolChoice: string;
}

/** The most tools that the service takes. */
const mostTools = 128;

/** The tools of a prompt, and whether the model has to call one. */
export function ToolList({
  value: { tools, toolChoice },
  mistakes,
  isChecked,
  isReadOnly,
  onChange,
}: {
  value: Tools;
  mistakes: ReadonlyMap<string, GenerationMistake>;
  /** Whether mistakes of empty fields are shown. */
  isChecked: boolean;
  isReadOnly: boolean;
  onChange: (value: Tools) => void;
}): ReactNode {
  const texts = useTexts().prompts.generation;
  const mistakeAt = useServiceMistake();
  const [opened, setOpened] = useState<string>();
  const setTools = (changed: readonly DraftTool[]): void => {
    // The choice goes with a tool that is removed, and follows one that gets another name.
    const chosen = tools.find(({ name }) => choiceOf(name) === toolChoice);
    const now = changed.find(({ key }) => key === chosen?.key);
    const isGone = changed.length === 0 || (chosen !== undefined && now === undefined);
    onChange({
      tools: changed,
      toolChoice: isGone ? '' : now === undefined ? toolChoice : choiceOf(now.name),
    });
  };
  const add = (index: number, tool: DraftTool): void => {
    setOpened(tool.key);
    setTools(tools.toSpliced(index, 0, tool));
  };
  const choices = new Set(['', 'none', 'required', ...tools.map(({ name }) => choiceOf(name)), toolChoice]);
  const listMistake = tools.some((_, index) => mistakeAt(`tools.${index}`) !== undefined)
    ? undefined
    : mistakeAt('tools');
  return (
    <>
      <Text size="xs" c="dimmed">
        {texts.tools.description}
      </Text>
      {tools.map((tool, index) => (
        <ToolCard
          key={tool.key}
          tools={tools}
          index={index}
          mistakes={mistakes}
          isChecked={isChecked}
          isOpenAtFirst={tool.key === opened}
          isReadOnly={isReadOnly}
          onChange={setTools}
          onDuplicate={() => {
            add(index + 1, newTool(tool));
          }}
        />
      ))}
      {listMistake !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)">
          {listMistake}
        </Text>
      )}
      {!isReadOnly && tools.length < mostTools && (
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={() => {
              add(tools.length, newTool());
            }}
          >
            {texts.tools.add}
          </Button>
        </Group>
      )}
      {(tools.length > 0 || toolChoice !== '') && (
        <NativeSelect
          size="xs"
          maw={320}
          label={texts.tools.choice}
          disabled={isReadOnly}
          value={toolChoice}
          error={mistakeAt('tool_choice')}
          data={[...choices].map((choice) => ({ value: choice, label: toolChoiceText(choice, texts) }))}
          onChange={(event) => {
            onChange({ tools, toolChoice: event.currentTarget.value });
          }}
        />
      )}
    </>
  );
}
