import { SegmentedControl, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTexts } from '../../../../shared/texts.tsx';
import type { DraftFormat, GenerationMistake } from '../../content/generation-draft.ts';
import { useServiceMistake } from '../service-mistakes.ts';
import { TriStateField } from './choice-field.tsx';
import classes from './generation.module.css';
import { JsonField } from './json-field.tsx';

/** The form of the answer: text, or JSON with a schema. */
export function FormatFields({
  format,
  mistakes,
  isReadOnly,
  onChange,
}: {
  format: DraftFormat;
  mistakes: ReadonlyMap<string, GenerationMistake>;
  isReadOnly: boolean;
  onChange: (format: DraftFormat) => void;
}): ReactNode {
  const texts = useTexts().prompts.generation;
  const mistakeAt = useServiceMistake();
  const own = (field: string): string | undefined => {
    const mistake = mistakes.get(`format.${field}`);
    return mistake === undefined ? mistakeAt(`response_format.${field}`) : texts.mistakes[mistake];
  };
  const set = (changed: Partial<DraftFormat>): void => {
    onChange({ ...format, ...changed });
  };
  const types = Object.entries(texts.format.types).map(([value, label]) => ({ value, label }));
  return (
    <>
      <SegmentedControl
        size="xs"
        w="fit-content"
        aria-label={texts.format.type}
        disabled={isReadOnly}
        value={format.type}
        // A later release can have stored another one; it stays selectable.
        data={types.some(({ value }) => value === format.type) ? types : [...types, format.type]}
        onChange={(type) => {
          set({ type });
        }}
      />
      {format.type === 'json' && (
        <>
          <div className={classes.grid}>
            <TextInput
              size="xs"
              label={texts.format.name}
              classNames={{ input: classes.mono ?? '' }}
              maxLength={64}
              readOnly={isReadOnly}
              value={format.name}
              error={own('name')}
              onChange={(event) => {
                set({ name: event.currentTarget.value });
              }}
            />
            <TriStateField
              label={texts.format.strict}
              value={format.strict}
              mistake={own('strict')}
              isReadOnly={isReadOnly}
              onChange={(strict) => {
                set({ strict });
              }}
            />
          </div>
          <Textarea
            size="xs"
            label={texts.format.description}
            autosize
            minRows={1}
            maxRows={6}
            maxLength={4000}
            readOnly={isReadOnly}
            value={format.description}
            error={own('description')}
            onChange={(event) => {
              set({ description: event.currentTarget.value });
            }}
          />
          <JsonField
            label={texts.format.schema}
            description={texts.format.schemaDescription}
            value={format.schema}
            mistake={own('schema')}
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
