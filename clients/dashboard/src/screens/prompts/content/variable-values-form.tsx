import { Group, SegmentedControl, Stack, Text, Textarea } from '@mantine/core';
import type { TemplateVariable } from 'prompt-gateway-client/template';
import { useId, type ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import { CodeEditor } from '../code/lazy-code.tsx';
import classes from './variable-values-form.module.css';
import { jsonMistake, valueOf, withJson, withValue, type VariableValues } from './variable-values.ts';

interface VariableValuesFormProps {
  readonly variables: readonly TemplateVariable[];
  readonly values: VariableValues;
  readonly onChange: (values: VariableValues) => void;
  /** Names to mark as missing. */
  readonly missing?: readonly string[];
}

/** Values for the variables of a prompt: a field for each, or all as one JSON object. */
export function VariableValuesForm({ variables, values, onChange, missing = [] }: VariableValuesFormProps): ReactNode {
  const texts = useTexts().prompts.values;
  const mistake = jsonMistake(values);
  const errorId = useId();
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text fw={600} size="sm">
          {texts.title}
        </Text>
        <SegmentedControl
          size="xs"
          aria-label={texts.enterAs}
          value={values.json === undefined ? 'form' : 'json'}
          data={[
            { value: 'form', label: texts.asForm },
            { value: 'json', label: texts.asJson },
          ]}
          onChange={(view) => {
            const shown = JSON.stringify(values.values, null, 2);
            onChange(view === 'json' ? withJson(values, shown) : { values: values.values, json: undefined });
          }}
        />
      </Group>
      {values.json !== undefined ? (
        <div>
          <CodeEditor
            language="json"
            label={texts.jsonLabel}
            value={values.json}
            invalid={mistake !== undefined}
            describedBy={errorId}
            onChange={(text) => {
              onChange(withJson(values, text));
            }}
          />
          <Text id={errorId} size="xs" mt={4} c={mistake === undefined ? 'dimmed' : 'var(--mantine-color-error)'}>
            {mistake === undefined ? texts.jsonDescription : texts.mistakes[mistake]}
          </Text>
        </div>
      ) : variables.length === 0 ? (
        <Text size="sm" c="dimmed">
          {texts.none}
        </Text>
      ) : (
        variables.map((variable) => (
          <ValueField
            key={variable.name}
            variable={variable}
            isMissing={missing.includes(variable.name)}
            values={values}
            onChange={onChange}
          />
        ))
      )}
    </Stack>
  );
}

function ValueField({
  variable: { name, required, description, default: fallback },
  isMissing,
  values,
  onChange,
}: Pick<VariableValuesFormProps, 'values' | 'onChange'> & {
  variable: TemplateVariable;
  isMissing: boolean;
}): ReactNode {
  const texts = useTexts().prompts.values;
  const value = valueOf(values, name);
  const isText = value === undefined || typeof value === 'string';
  return (
    <Textarea
      label={<span className={classes.name}>{name}</span>}
      description={description}
      withAsterisk={required}
      autosize
      minRows={1}
      maxRows={8}
      placeholder={fallback === undefined ? undefined : texts.defaultOf(fallback.slice(0, 200))}
      value={isText ? (value ?? '') : JSON.stringify(value)}
      readOnly={!isText}
      inputWrapperOrder={['label', 'description', 'input', 'error']}
      error={isMissing ? texts.missing : isText ? undefined : <Text inherit>{texts.isJson}</Text>}
      onChange={(event) => {
        onChange(withValue(values, name, event.currentTarget.value));
      }}
    />
  );
}
