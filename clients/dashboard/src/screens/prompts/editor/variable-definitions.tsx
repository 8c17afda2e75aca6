import { ActionIcon, Button, Checkbox, Group, Paper, Stack, Text, Textarea, TextInput, Tooltip } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import type { TemplateVariable } from 'prompt-gateway-client/template';
import { memo, useCallback, type ReactNode } from 'react';
import { promptCreate, variableDefinitionInput, variableName } from '../../../generated/limits.ts';
import { useTexts } from '../../../shared/texts.tsx';
import { newVariable, type DraftMistakes, type DraftVariable } from '../content/prompt-draft.ts';
import classes from './variable-definitions.module.css';

interface VariableDefinitionsProps {
  readonly variables: readonly DraftVariable[];
  /** Variables that placeholders use and nothing declares. */
  readonly undeclared: readonly TemplateVariable[];
  readonly mistakes: DraftMistakes['variables'];
  readonly isReadOnly: boolean;
  readonly onChange: (change: (variables: readonly DraftVariable[]) => readonly DraftVariable[]) => void;
}

/** The most variables that the service takes. */
const mostVariables = promptCreate.variables.maxProperties;
/** Names of undeclared variables that have a button each. */
const mostButtons = 12;

const Row = memo(VariableRow);

/** The definitions of the variables. What placeholders use is declared with one click. */
export function VariableDefinitions({
  variables,
  undeclared,
  mistakes,
  isReadOnly,
  onChange,
}: VariableDefinitionsProps): ReactNode {
  const texts = useTexts().prompts.variables;
  const change = useCallback(
    (key: string, changed: Partial<DraftVariable>) => {
      onChange((all) => all.map((variable) => (variable.key === key ? { ...variable, ...changed } : variable)));
    },
    [onChange],
  );
  const remove = useCallback(
    (key: string) => {
      onChange((all) => all.filter((variable) => variable.key !== key));
    },
    [onChange],
  );
  const declare = (added: readonly TemplateVariable[]): void => {
    onChange((all) => [...all, ...added.map(({ name, required }) => newVariable(name, { required }))]);
  };
  const room = mostVariables - variables.length;

  return (
    <Stack gap="sm">
      {!isReadOnly && undeclared.length > 0 && (
        <Group gap="xs" className={classes.undeclared}>
          <Text size="sm">{texts.undeclared}</Text>
          {undeclared.slice(0, Math.min(mostButtons, room)).map((variable) => (
            <Button
              key={variable.name}
              size="compact-xs"
              variant="default"
              ff="monospace"
              leftSection={<IconPlus size={12} />}
              aria-label={texts.declareOne(variable.name)}
              onClick={() => {
                declare([variable]);
              }}
            >
              {variable.name}
            </Button>
          ))}
          {undeclared.length > 1 && (
            <Button
              size="compact-xs"
              onClick={() => {
                declare(undeclared.slice(0, room));
              }}
            >
              {texts.declareAll(undeclared.length)}
            </Button>
          )}
        </Group>
      )}
      {variables.length === 0 && (
        <Text size="sm" c="dimmed">
          {texts.none}
        </Text>
      )}
      {variables.map((variable) => (
        <Row
          key={variable.key}
          variable={variable}
          mistake={mistakes.get(variable.key)}
          isReadOnly={isReadOnly}
          onChange={change}
          onRemove={remove}
        />
      ))}
      {!isReadOnly && room > 0 && (
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={() => {
              onChange((all) => [...all, newVariable('')]);
            }}
          >
            {texts.add}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function VariableRow({
  variable: { key, name, required, default: fallback, description },
  mistake,
  isReadOnly,
  onChange,
  onRemove,
}: {
  variable: DraftVariable;
  mistake: 'name' | 'taken' | undefined;
  isReadOnly: boolean;
  onChange: (key: string, changed: Partial<DraftVariable>) => void;
  onRemove: (key: string) => void;
}): ReactNode {
  const texts = useTexts().prompts.variables;
  return (
    <Paper withBorder p="sm" component="fieldset" className={classes.row} disabled={isReadOnly}>
      <legend className={classes.legend}>{texts.legend(name)}</legend>
      <TextInput
        size="xs"
        label={texts.name}
        classNames={{ input: classes.mono ?? '' }}
        value={name}
        maxLength={variableName.maxLength}
        error={mistake === undefined ? undefined : texts.mistakes[mistake]}
        onChange={(event) => {
          onChange(key, { name: event.currentTarget.value });
        }}
      />
      <Textarea
        size="xs"
        label={texts.default}
        placeholder={texts.noDefault}
        autosize
        minRows={1}
        maxRows={4}
        value={fallback ?? ''}
        onChange={(event) => {
          const text = event.currentTarget.value;
          onChange(key, { default: text === '' ? undefined : text });
        }}
      />
      <TextInput
        size="xs"
        label={texts.description}
        placeholder={texts.descriptionPlaceholder}
        value={description}
        maxLength={variableDefinitionInput.description.maxLength}
        onChange={(event) => {
          onChange(key, { description: event.currentTarget.value });
        }}
      />
      <Group gap="xs" wrap="nowrap" className={classes.end}>
        <Checkbox
          size="xs"
          label={texts.required}
          checked={required}
          onChange={(event) => {
            onChange(key, { required: event.currentTarget.checked });
          }}
        />
        {!isReadOnly && (
          <Tooltip label={texts.remove(name)}>
            <ActionIcon
              aria-label={texts.remove(name)}
              onClick={() => {
                onRemove(key);
              }}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Tooltip>
        )}
      </Group>
    </Paper>
  );
}
