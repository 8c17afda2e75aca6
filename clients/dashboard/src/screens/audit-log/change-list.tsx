import { Code, Stack, Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useTexts } from '../../shared/texts.tsx';

/** Characters of a value that are shown; the whole value is shown on hover. */
const shownLength = 80;
/** Members that are shown. Of a new or deleted resource the name is enough, if it has one. */
const shownMembers = 4;

/** What a record says was different. */
export function ChangeList({ record }: { record: Schemas['AuditRecord'] }): ReactNode {
  const { auditLog: texts, shared } = useTexts();
  const { before, after, withheld = [], cut = [] } = record;
  const names = Object.keys({ ...before, ...after });
  const isEdit = before !== undefined && after !== undefined;
  const shown = !isEdit && names.includes('name') ? ['name'] : names;
  if (names.length === 0 && withheld.length === 0) return shared.none;
  return (
    <Stack gap={2} style={{ whiteSpace: 'normal' }}>
      {shown.slice(0, shownMembers).map((name) => (
        <Text key={name} size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
          <Text span inherit c="dimmed">
            {name}
          </Text>{' '}
          <Value value={before?.[name]} isCut={cut.includes(name)} />
          {before?.[name] !== undefined && after?.[name] !== undefined && ' → '}
          <Value value={after?.[name]} isCut={cut.includes(name)} />
        </Text>
      ))}
      {shown.length > shownMembers && (
        <Text size="sm" c="dimmed">
          {texts.more(shown.length - shownMembers)}
        </Text>
      )}
      {withheld.length > 0 && (isEdit || names.length === 0) && (
        <Text size="sm" c="dimmed">
          {texts.withheld(withheld)}
        </Text>
      )}
    </Stack>
  );
}

/** @param isCut whether the record has only the beginning of the value */
function Value({ value, isCut }: { value: unknown; isCut: boolean }): ReactNode {
  if (value === undefined) return null;
  const whole = typeof value === 'string' ? value : JSON.stringify(value);
  const text = isCut ? (value as { start: string }).start : whole;
  return <Code title={whole}>{text.length > shownLength ? `${text.slice(0, shownLength)}…` : text}</Code>;
}
