import { Stack, Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useOwnTexts, useTexts } from '../../shared/texts.tsx';
import { auditLog } from '../../texts/audit-log.ts';
import { ChangedValue } from './changed-value.tsx';

/** Members that are shown. Of a new or deleted resource the name is enough, if it has one. */
const shownMembers = 4;

/** What a record says was different. */
export function ChangeList({ record }: { record: Schemas['AuditRecord'] }): ReactNode {
  const texts = useOwnTexts(auditLog);
  const { shared } = useTexts();
  const { before, after, withheld = [] } = record;
  const names = Object.keys({ ...before, ...after });
  const isEdit = before !== undefined && after !== undefined;
  const shown = !isEdit && names.includes('name') ? ['name'] : names;
  if (names.length === 0 && withheld.length === 0) return shared.none;
  return (
    <Stack gap={2} style={{ whiteSpace: 'normal' }}>
      {shown.slice(0, shownMembers).map((name) => (
        <Text key={name} size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
          <Change record={record} name={name} />
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

/** What one member was and is. */
function Change({ record, name }: { record: Schemas['AuditRecord']; name: string }): ReactNode {
  const texts = useOwnTexts(auditLog);
  const was = record.before?.[name];
  const is = record.after?.[name];
  if (name === 'labels' && record.cut?.includes(name) !== true) return <Labels was={was} is={is} />;
  return (
    <>
      <Text span inherit c="dimmed">
        {(texts.members as Readonly<Record<string, string>>)[name] ?? name}
      </Text>{' '}
      {was !== undefined && <ChangedValue record={record} name={name} value={was} />}
      {was !== undefined && is !== undefined && ' → '}
      {is !== undefined && <ChangedValue record={record} name={name} value={is} />}
    </>
  );
}

/** Where each label was and is. */
function Labels({ was, is }: { was: unknown; is: unknown }): ReactNode {
  const { labelChange: texts } = useOwnTexts(auditLog);
  const before = new Map<string, unknown>(Object.entries(Object(was)));
  const after = new Map<string, unknown>(Object.entries(Object(is)));
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((label) => before.get(label) !== after.get(label))
    .map((label) => {
      const [from, to] = [before.get(label), after.get(label)].map((version) =>
        version === undefined ? undefined : String(version),
      );
      return (
        <div key={label}>
          {from === undefined
            ? texts.created(label, to ?? '')
            : to === undefined
              ? texts.deleted(label, from)
              : texts.moved(label, from, to)}
        </div>
      );
    });
}
