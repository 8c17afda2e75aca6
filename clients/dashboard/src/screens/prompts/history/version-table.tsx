import { Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconHistory } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import { useMemo, useState, type ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { DataTable, type Column } from '../../../shared/data-table.tsx';
import { EmptyState } from '../../../shared/empty-state.tsx';
import { Time } from '../../../shared/time.tsx';
import { StatusBadge } from '../../../shared/status-badge.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import type { Texts } from '../../../texts/en.ts';
import { contentDraftOf, sameDraft, type ContentDraft } from '../content/prompt-draft.ts';
import { LabelBadge } from '../labels/label-badges.tsx';
import type { LabelTarget } from '../labels/set-label-dialog.tsx';
import { useVersions } from '../prompt-queries.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { RestoreDialog } from './restore-dialog.tsx';

type Version = Schemas['PromptVersion'];
type Part = keyof Texts['prompts']['history']['parts'];

/** All versions, the newest first; their labels; what changed in each; and buttons that label or restore it. */
export function VersionTable({
  labels,
  feedback,
  onSetLabel,
}: {
  /** By version. */
  feedback: ReadonlyMap<number, string>;
  labels: readonly Schemas['Label'][];
  /** Undefined if the key may not. */
  onSetLabel: ((target: LabelTarget) => void) | undefined;
}): ReactNode {
  const { prompts, shared, labels: labelTexts } = useTexts();
  const { history: texts } = prompts;
  const format = useFormat();
  const { id, version: newest } = useWorkspace().stored.data;
  const canWrite = useScope('prompts:write');
  const list = useVersions(id);
  const [restored, setRestored] = useState(newest);
  const [isRestoring, restoring] = useDisclosure(false);
  const changes = useMemo(() => changesByVersion(list.rows ?? []), [list.rows]);

  const columns: Column<Version>[] = [
    {
      key: 'version',
      header: texts.columns.version,
      width: '34%',
      cell: ({ version }) => (
        <Group component="span" gap={6}>
          <Text span size="sm" fw={500}>
            {texts.version(version)}
          </Text>
          {version === newest && <StatusBadge tone="ok">{texts.current}</StatusBadge>}
          {labels
            .filter((label) => label.version === version)
            .map(({ name }) => (
              <LabelBadge key={name}>{name}</LabelBadge>
            ))}
        </Group>
      ),
    },
    {
      key: 'changes',
      header: texts.columns.changes,
      cell: ({ version, note }) => {
        const parts = changes.get(version);
        const first = version === 1 ? texts.first : '';
        return (
          <>
            {parts === undefined ? first : format.list(parts.map((part) => texts.parts[part]))}
            {note !== undefined && (
              <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                {note}
              </Text>
            )}
          </>
        );
      },
    },
    {
      key: 'feedback',
      header: texts.columns.feedback,
      width: 130,
      cell: ({ version }) => feedback.get(version) ?? shared.none,
    },
    {
      key: 'created',
      header: texts.columns.created,
      width: 170,
      cell: ({ created_at, author }) => (
        <>
          <Time value={created_at} />
          {author !== undefined && (
            <Text size="xs" c="dimmed">
              {author.name}
            </Text>
          )}
        </>
      ),
    },
    {
      key: 'actions',
      header: shared.table.actions,
      hasNoLabel: true,
      align: 'end',
      width: 250,
      cell: ({ version }) => (
        <Group gap={6} justify="flex-end" wrap="nowrap">
          {canWrite && version !== newest && (
            <Button
              size="compact-sm"
              variant="default"
              aria-label={texts.restoreOf(version)}
              onClick={() => {
                setRestored(version);
                restoring.open();
              }}
            >
              {texts.restore}
            </Button>
          )}
          {onSetLabel !== undefined && (
            <Button
              size="compact-sm"
              variant="default"
              aria-label={labelTexts.setOn(version)}
              onClick={() => {
                onSetLabel({ version });
              }}
            >
              {labelTexts.set}
            </Button>
          )}
        </Group>
      ),
    },
  ];

  return (
    <>
      <DataTable
        label={texts.table}
        columns={columns}
        list={list}
        rowKey={({ version }) => String(version)}
        rowLink={({ version }) => ({
          to: '.',
          search: (version === 1
            ? { before: '1', after: String(newest) }
            : { before: String(version - 1), after: String(version) }) as never,
        })}
        empty={<EmptyState icon={IconHistory} text={texts.emptyText} />}
      />
      <RestoreDialog version={restored} isOpen={isRestoring} onClose={restoring.close} />
    </>
  );
}

const fieldsOf: Readonly<Record<Part, readonly (keyof ContentDraft)[]>> = {
  messages: ['messages'],
  variables: ['variables'],
  strict: ['strict'],
  model: ['provider', 'model'],
  generation: ['generation'],
};

/** What changed from the version before, for the versions whose predecessor is in the list, too. */
function changesByVersion(versions: readonly Version[]): Map<number, Part[]> {
  const found = new Map<number, Part[]>();
  const drafts = versions.map(contentDraftOf);
  for (const [index, { version }] of versions.entries()) {
    const [newer, older] = drafts.slice(index, index + 2);
    if (newer === undefined || older === undefined || versions[index + 1]?.version !== version - 1) continue;
    const parts = (Object.keys(fieldsOf) as Part[]).filter((part) =>
      fieldsOf[part].some((field) => !sameDraft(newer[field], older[field])),
    );
    found.set(version, parts);
  }
  return found;
}
