import {
  ActionIcon,
  Group,
  NativeSelect,
  Paper,
  Stack,
  Text,
  Textarea,
  TextInput,
  Tooltip,
  UnstyledButton,
} from '@mantine/core';
import { IconChevronDown, IconChevronRight, IconCopy } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { toolsInput } from '../../../generated/limits.ts';
import { fits } from '../../../shared/limits.ts';
import { useTexts } from '../../../shared/texts.tsx';
import { hintLines, type CacheHint } from '../content/cache-hint.ts';
import { objectMistake, objectOf } from '../content/exact-json.ts';
import { CacheHintMenu } from '../editor/cache-hint-menu.tsx';
import { useServiceMistake } from '../editor/service-mistakes.ts';
import classes from './generation.module.css';
import { Entries } from './entries.tsx';
import { JsonField } from './json-field.tsx';
import { ListButtons } from './list-buttons.tsx';
import { line, mistakesFrom, pretty, section, yesOrNo, type FieldsProps, type GenerationMistakes } from './section.ts';
import { TriStateField } from './tri-state-field.tsx';

const en = {
  title: 'Tools',
  description: 'Functions that the model can ask your application to run. The service never runs them.',
  label: (position: number) => `Tool ${position}`,
  heading: (name: string) => `Tool ${name}`,
  unnamed: 'No name yet',
  name: 'Name',
  purpose: 'Description',
  purposePlaceholder: 'What it does, for the model',
  strict: 'Follow the schema exactly',
  parameters: 'JSON Schema of the arguments',
  add: 'Add tool',
  duplicate: (position: number) => `Duplicate tool ${position}`,
  up: (position: number) => `Move tool ${position} up`,
  down: (position: number) => `Move tool ${position} down`,
  remove: (position: number) => `Remove tool ${position}`,
  count: (count: number) => (count === 1 ? '1 tool' : `${count} tools`),
  choice: 'Tool choice',
  choices: { '': 'As the model decides', none: 'Never', required: 'At least one' } as Readonly<Record<string, string>>,
  choiceOf: (name: string) => `Always ${name}`,
};
const de: typeof en = {
  title: 'Tools',
  description:
    'Funktionen, um deren Ausführung das Modell Ihre Anwendung bitten kann. Der Dienst führt sie nie selbst aus.',
  label: (position) => `Tool ${position}`,
  heading: (name) => `Tool ${name}`,
  unnamed: 'Noch kein Name',
  name: 'Name',
  purpose: 'Beschreibung',
  purposePlaceholder: 'Was es tut, für das Modell',
  strict: 'Schema genau einhalten',
  parameters: 'JSON-Schema der Argumente',
  add: 'Tool hinzufügen',
  duplicate: (position) => `Tool ${position} duplizieren`,
  up: (position) => `Tool ${position} nach oben`,
  down: (position) => `Tool ${position} nach unten`,
  remove: (position) => `Tool ${position} entfernen`,
  count: (count) => (count === 1 ? '1 Tool' : `${count} Tools`),
  choice: 'Tool-Auswahl',
  choices: { '': 'Das Modell entscheidet', none: 'Nie', required: 'Mindestens eines' },
  choiceOf: (name) => `Immer ${name}`,
};
const texts = { en, de };

interface Tool {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly strict: boolean | undefined;
  /** JSON text of the schema of its arguments. */
  readonly parameters: string;
  readonly cacheHint: CacheHint | undefined;
}

interface Tools {
  readonly list: readonly Tool[];
  /** Empty: as the model decides. `tool:` and a name: this tool. Else as the contract has it. */
  readonly choice: string;
}

/** What the arguments of a new tool look like. */
const noArguments = { type: 'object', properties: {}, required: [] };

/** The tools of a prompt, and whether the model has to call one. */
export const tools = section<Tools, typeof en>({
  texts,
  cleared: { tools: null, tool_choice: null },
  read: ({ tools: stored = [], tool_choice: choice = 'auto' }) => ({
    list: stored.map(({ name, description = '', strict, parameters, cache_control: cacheHint }) =>
      newTool({ name, description, strict, parameters: pretty(parameters), cacheHint }),
    ),
    choice: typeof choice === 'object' ? choiceOf(choice.name) : choice === 'auto' ? '' : choice,
  }),
  write: ({ list, choice }) => ({
    ...(list.length > 0 && {
      tools: list.map(({ name, description, strict, parameters, cacheHint }) => ({
        name,
        ...(description !== '' && { description }),
        ...(strict !== undefined && { strict }),
        parameters: objectOf(parameters) ?? {},
        ...(cacheHint && { cache_control: cacheHint }),
      })),
    }),
    ...(choice !== '' && { tool_choice: isNamed(choice) ? { name: choice.slice(named.length) } : choice }),
  }),
  mistakes: ({ list }) =>
    mistakesFrom(
      list.flatMap(({ key, name, parameters }, index) => {
        const isTaken = list.slice(0, index).some((other) => other.name === name);
        return [
          [`${key}.name`, fits(name, toolsInput.items.name) ? isTaken && 'taken' : 'name'],
          [`${key}.parameters`, objectMistake(parameters)],
        ] as const;
      }),
    ),
  summary: ({ list, choice }, own) => [
    ...(list.length > 0 ? [own.count(list.length)] : []),
    ...(choice === '' ? [] : [choiceText(choice, own)]),
  ],
  describe: ({ list, choice }, own, words) => [
    ...list.map(
      ({ name, description, strict, parameters, cacheHint }) =>
        [
          own.heading(name),
          [
            line(own.purpose, description || undefined),
            line(own.strict, yesOrNo(strict, words)),
            parameters,
            ...hintLines(cacheHint),
          ],
        ] as const,
    ),
    [own.choice, choice === '' ? [] : [choiceText(choice, own)]],
  ],
  Fields: ToolFields,
});

const named = 'tool:';

function choiceOf(tool: string): string {
  return named + tool;
}

function isNamed(choice: string): boolean {
  return choice.startsWith(named);
}

function choiceText(choice: string, own: typeof en): string {
  return isNamed(choice) ? own.choiceOf(choice.slice(named.length)) : (own.choices[choice] ?? choice);
}

function newTool(tool: Partial<Omit<Tool, 'key'>> = {}): Tool {
  return {
    name: '',
    description: '',
    strict: undefined,
    parameters: pretty(noArguments),
    cacheHint: undefined,
    ...tool,
    key: crypto.randomUUID(),
  };
}

function ToolFields({
  value: { list, choice },
  mistakes,
  isChecked,
  isReadOnly,
  onChange,
}: FieldsProps<Tools>): ReactNode {
  const own = texts[useTexts().prompts.generation.language];
  const mistakeAt = useServiceMistake();
  const [opened, setOpened] = useState<string>();
  const setTools = (changed: readonly Tool[]): void => {
    // The choice goes with a tool that is removed, and follows one that gets another name.
    const chosen = list.find(({ name }) => choiceOf(name) === choice);
    const now = changed.find(({ key }) => key === chosen?.key);
    const isGone = changed.length === 0 || (chosen !== undefined && now === undefined);
    onChange({
      list: changed,
      choice: isGone ? '' : now === undefined ? choice : choiceOf(now.name),
    });
  };
  const add = (index: number, tool: Tool): void => {
    setOpened(tool.key);
    setTools(list.toSpliced(index, 0, tool));
  };
  const choices = new Set(['', 'none', 'required', ...list.map(({ name }) => choiceOf(name)), choice]);
  const listMistake = list.some((_, index) => mistakeAt(`tools.${index}`) !== undefined)
    ? undefined
    : mistakeAt('tools');
  return (
    <>
      <Entries
        description={own.description}
        add={own.add}
        canAdd={!isReadOnly && list.length < toolsInput.maxItems}
        onAdd={() => {
          add(list.length, newTool());
        }}
      >
        {list.map((tool, index) => (
          <ToolCard
            key={tool.key}
            tools={list}
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
      </Entries>
      {(list.length > 0 || choice !== '') && (
        <NativeSelect
          size="xs"
          maw={320}
          label={own.choice}
          disabled={isReadOnly}
          value={choice}
          error={mistakeAt('tool_choice')}
          data={[...choices].map((one) => ({ value: one, label: choiceText(one, own) }))}
          onChange={(event) => {
            onChange({ list, choice: event.currentTarget.value });
          }}
        />
      )}
    </>
  );
}

interface ToolCardProps {
  readonly tools: readonly Tool[];
  readonly index: number;
  readonly mistakes: GenerationMistakes;
  readonly isChecked: boolean;
  readonly isOpenAtFirst: boolean;
  readonly isReadOnly: boolean;
  readonly onChange: (tools: readonly Tool[]) => void;
  readonly onDuplicate: () => void;
}

/** One tool. Folded, it is its name and purpose. */
function ToolCard(props: ToolCardProps): ReactNode {
  const { tools, index, mistakes, isChecked, isOpenAtFirst, isReadOnly, onChange, onDuplicate } = props;
  const words = useTexts().prompts.generation;
  const own = texts[words.language];
  const mistakeAt = useServiceMistake();
  const [isToggled, setToggled] = useState(isOpenAtFirst);
  const tool = tools[index];
  if (tool === undefined) return null;
  const { key, name, description, strict, parameters } = tool;
  const mistakeOf = (field: string): string | undefined => {
    const mistake = mistakes.get(`${key}.${field}`);
    if (mistake === undefined) return mistakeAt(`tools.${index}.${field}`);
    return isChecked || name !== '' ? words.mistakes[mistake] : undefined;
  };
  const set = (changed: Partial<Tool>): void => {
    onChange(tools.map((one) => (one.key === key ? { ...one, ...changed } : one)));
  };
  const isOpen = isToggled || mistakeOf('name') !== undefined || mistakeOf('parameters') !== undefined;
  const label = own.label(index + 1);
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
            <span className={`${classes.name ?? ''} ${classes.mono ?? ''}`}>{name || own.unnamed}</span>
          </Group>
        </UnstyledButton>
        {!isReadOnly && (
          <ListButtons items={tools} index={index} texts={own} onChange={onChange}>
            <CacheHintMenu
              place={label}
              value={tool.cacheHint}
              isReadOnly={isReadOnly}
              onChange={(cacheHint) => {
                set({ cacheHint });
              }}
            />
            <Tooltip label={own.duplicate(index + 1)}>
              <ActionIcon aria-label={own.duplicate(index + 1)} onClick={onDuplicate}>
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
              label={own.name}
              withAsterisk
              classNames={{ input: classes.mono ?? '' }}
              maxLength={toolsInput.items.name.maxLength}
              readOnly={isReadOnly}
              value={name}
              error={mistakeOf('name')}
              onFocus={() => {
                // It stays open when its mistake is mended.
                setToggled(true);
              }}
              onChange={(event) => {
                set({ name: event.currentTarget.value });
              }}
            />
            <TriStateField
              label={own.strict}
              value={strict}
              mistake={mistakeOf('strict')}
              isReadOnly={isReadOnly}
              onChange={(chosen) => {
                set({ strict: chosen });
              }}
            />
          </div>
          <Textarea
            size="xs"
            label={own.purpose}
            placeholder={own.purposePlaceholder}
            autosize
            minRows={1}
            maxRows={6}
            maxLength={toolsInput.items.description.maxLength}
            readOnly={isReadOnly}
            value={description}
            error={mistakeOf('description')}
            onChange={(event) => {
              set({ description: event.currentTarget.value });
            }}
          />
          <JsonField
            label={own.parameters}
            accessibleName={`${label}: ${own.parameters}`}
            value={parameters}
            mistake={mistakeOf('parameters')}
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
