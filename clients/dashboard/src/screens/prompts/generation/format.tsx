import { SegmentedControl, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { responseFormatInput } from '../../../generated/limits.ts';
import { fits } from '../../../shared/limits.ts';
import { useTexts } from '../../../shared/texts.tsx';
import { objectMistake, objectOf } from '../content/exact-json.ts';
import { useServiceMistake } from '../editor/service-mistakes.ts';
import classes from './generation.module.css';
import { JsonField } from './json-field.tsx';
import { line, mistakesFrom, pretty, section, yesOrNo, type FieldsProps } from './section.ts';
import { TriStateField } from './tri-state-field.tsx';

const en = {
  title: 'Response format',
  type: 'Form of the answer',
  types: { text: 'Text', json: 'JSON' } as Readonly<Record<string, string>>,
  name: 'Name of the schema',
  description: 'Purpose of the answer',
  strict: 'Follow the schema exactly',
  schema: 'JSON Schema of the answer',
  schemaDescription: 'The service checks the answer against it. Empty: any JSON.',
};
const de: typeof en = {
  title: 'Antwortformat',
  type: 'Form der Antwort',
  types: { text: 'Text', json: 'JSON' },
  name: 'Name des Schemas',
  description: 'Zweck der Antwort',
  strict: 'Schema genau einhalten',
  schema: 'JSON-Schema der Antwort',
  schemaDescription: 'Der Dienst prüft die Antwort daran. Leer: beliebiges JSON.',
};
const texts = { en, de };

/** All but `type` count only for `json`. */
interface Format {
  readonly type: string;
  readonly name: string;
  readonly description: string;
  readonly strict: boolean | undefined;
  /** JSON text; blank: any JSON. */
  readonly schema: string;
}

/** The form of the answer: text, or JSON with a schema. */
export const format = section<Format, typeof en>({
  texts,
  cleared: { response_format: null },
  read: ({ response_format: stored }) => ({
    type: stored?.type ?? 'text',
    name: stored?.name ?? '',
    description: stored?.description ?? '',
    strict: stored?.strict,
    schema: stored?.schema === undefined ? '' : pretty(stored.schema),
  }),
  write({ type, name, description, strict, schema }) {
    if (type === 'text') return {};
    const value = schema.trim() === '' ? undefined : objectOf(schema);
    return {
      response_format: {
        type,
        ...(name !== '' && { name }),
        ...(description !== '' && { description }),
        ...(strict !== undefined && { strict }),
        ...(value !== undefined && { schema: value }),
      },
    };
  },
  mistakes: ({ type, name, schema }) =>
    type === 'json'
      ? mistakesFrom([
          ['schema', schema.trim() === '' ? undefined : objectMistake(schema)],
          ['name', name !== '' && !fits(name, responseFormatInput.name) && 'name'],
        ])
      : new Map(),
  summary: ({ type }, { types }) => (type === 'text' ? [] : [types[type] ?? type]),
  describe: ({ type, name, description, strict, schema }, own, words) => [
    [
      own.title,
      type === 'text'
        ? []
        : [
            own.types[type] ?? type,
            line(own.name, name || undefined),
            line(own.description, description || undefined),
            line(own.strict, yesOrNo(strict, words)),
            schema || undefined,
          ],
    ],
  ],
  Fields: FormatFields,
});

function FormatFields({ value, mistakes, isReadOnly, onChange }: FieldsProps<Format>): ReactNode {
  const words = useTexts().prompts.generation;
  const own = texts[words.language];
  const mistakeAt = useServiceMistake();
  const mistakeOf = (field: string): string | undefined => {
    const mistake = mistakes.get(field);
    return mistake === undefined ? mistakeAt(`response_format.${field}`) : words.mistakes[mistake];
  };
  const set = (changed: Partial<Format>): void => {
    onChange({ ...value, ...changed });
  };
  const types = Object.entries(own.types).map(([type, label]) => ({ value: type, label }));
  return (
    <>
      <SegmentedControl
        size="xs"
        w="fit-content"
        aria-label={own.type}
        disabled={isReadOnly}
        value={value.type}
        // A later release can have stored another one; it stays selectable.
        data={types.some((known) => known.value === value.type) ? types : [...types, value.type]}
        onChange={(type) => {
          set({ type });
        }}
      />
      {value.type === 'json' && (
        <>
          <div className={classes.grid}>
            <TextInput
              size="xs"
              label={own.name}
              classNames={{ input: classes.mono ?? '' }}
              maxLength={responseFormatInput.name.maxLength}
              readOnly={isReadOnly}
              value={value.name}
              error={mistakeOf('name')}
              onChange={(event) => {
                set({ name: event.currentTarget.value });
              }}
            />
            <TriStateField
              label={own.strict}
              value={value.strict}
              mistake={mistakeOf('strict')}
              isReadOnly={isReadOnly}
              onChange={(strict) => {
                set({ strict });
              }}
            />
          </div>
          <Textarea
            size="xs"
            label={own.description}
            autosize
            minRows={1}
            maxRows={6}
            maxLength={responseFormatInput.description.maxLength}
            readOnly={isReadOnly}
            value={value.description}
            error={mistakeOf('description')}
            onChange={(event) => {
              set({ description: event.currentTarget.value });
            }}
          />
          <JsonField
            label={own.schema}
            description={own.schemaDescription}
            value={value.schema}
            mistake={mistakeOf('schema')}
            isReadOnly={isReadOnly}
            onChange={(schema) => {
              set({ schema });
            }}
          />
        </>
      )}
    </>
  );
}
