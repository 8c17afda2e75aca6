import { Text } from '@mantine/core';
import { IconTag } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Dialog } from '../../../shared/dialog.tsx';
import { DataTable, type Column } from '../../../shared/data-table.tsx';
import { EmptyState } from '../../../shared/empty-state.tsx';
import { Time } from '../../../shared/time.tsx';
import { useFormat, useOwnTexts, useTexts } from '../../../shared/texts.tsx';
import { useAuthorName } from '../../../shared/use-authors.ts';
import { canaries } from '../../../texts/canaries.ts';
import { RemarkList } from '../content/content-warnings.tsx';
import { useLabelMoves, type LabelMove } from '../prompt-queries.ts';
import { moveSentence } from './canary-text.ts';

/** Which versions a label has named, the latest first, who moved it, and what that changed for callers. */
export function LabelMovesDialog({
  promptId,
  name,
  isOpen,
  onClose,
}: {
  promptId: string;
  name: string;
  isOpen: boolean;
  onClose: () => void;
}): ReactNode {
  const { labels } = useTexts();
  const title = labels.moves.title(name);
  return (
    <Dialog opened={isOpen} onClose={onClose} size={960} title={title}>
      <LabelMoves promptId={promptId} name={name} />
    </Dialog>
  );
}

function LabelMoves({ promptId, name }: { promptId: string; name: string }): ReactNode {
  const { labels, prompts } = useTexts();
  const { moves: texts } = labels;
  const ownTexts = useOwnTexts(canaries);
  const format = useFormat();
  const nameOf = useAuthorName();
  const columns: Column<LabelMove>[] = [
    {
      key: 'version',
      header: texts.columns.version,
      width: 100,
      cell: ({ version }) =>
        version === undefined ? (
          <Text span size="sm" c="dimmed">
            {texts.deleted}
          </Text>
        ) : (
          prompts.workspace.version(version)
        ),
    },
    {
      key: 'moved',
      header: texts.columns.moved,
      align: 'end',
      cell: ({ moved_at }) => <Time value={moved_at} />,
    },
    { key: 'by', header: texts.columns.by, width: '16%', cell: ({ author }) => nameOf(author) },
    {
      key: 'gate',
      header: texts.columns.gate,
      // The gate lets a version in at the start of its canary.
      cell: ({ gate, canary }) => <LetIn release={gate ?? (canary?.ended === undefined ? canary?.gate : undefined)} />,
    },
    {
      key: 'canary',
      header: ownTexts.move.column,
      width: '24%',
      cell: ({ canary }) => canary !== undefined && moveSentence(canary, ownTexts, format),
    },
    {
      key: 'breaking',
      header: texts.columns.breaking,
      cell: ({ warnings = [] }) => <RemarkList remarks={warnings} />,
    },
  ];
  return (
    <DataTable
      label={texts.title(name)}
      columns={columns}
      list={useLabelMoves(promptId, name)}
      rowKey={({ sequence }) => String(sequence)}
      empty={<EmptyState icon={IconTag} text={labels.empty} />}
    />
  );
}

/** How the gate let a version in. */
function LetIn({ release }: { release: LabelMove['gate'] | undefined }): ReactNode {
  const { moves: texts } = useTexts().labels;
  return (
    <Text span size="sm" style={{ overflowWrap: 'anywhere' }}>
      {release?.override !== undefined
        ? texts.overridden(release.override)
        : release?.evaluations !== undefined && texts.shown(release.evaluations.length)}
    </Text>
  );
}
