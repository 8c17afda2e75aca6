import { ActionIcon, Button, Group, Menu, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconArrowsSplit,
  IconDots,
  IconHistory,
  IconPlus,
  IconShieldCheck,
  IconTag,
  IconTrash,
} from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { DataTable, type Column } from '../../../shared/data-table.tsx';
import { EmptyState } from '../../../shared/empty-state.tsx';
import { Time } from '../../../shared/time.tsx';
import { useFormat, useOwnTexts, useTexts } from '../../../shared/texts.tsx';
import { useAuthorName } from '../../../shared/use-authors.ts';
import { gates as gateWords } from '../../../texts/gates.ts';
import { canaries } from '../../../texts/canaries.ts';
import { useLabels } from '../prompt-queries.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { DeleteLabelDialog } from './delete-label-dialog.tsx';
import { GateDialog } from './gate-dialog.tsx';
import { useGates } from './gate-queries.ts';
import { LabelBadge } from './label-badges.tsx';
import { LabelMovesDialog } from './label-moves-dialog.tsx';
import { CanaryDialog } from './canary-dialog.tsx';
import { CanaryPanel } from './canary-panel.tsx';
import type { LabelTarget } from './set-label-dialog.tsx';

type Label = Schemas['Label'];

/** The labels of a prompt: which version each names, who moved it there and when, and what can be done with it. */
export function LabelSection({
  onSet,
}: {
  /** Opens the dialog that creates or moves a label. Undefined if the key may not. */
  onSet: ((target: LabelTarget) => void) | undefined;
}): ReactNode {
  const { labels: texts, prompts, shared } = useTexts();
  const { id, version: newest } = useWorkspace().stored.data;
  const { data: labels, error, refetch } = useLabels(id);
  const [chosen, setChosen] = useState<Label>();
  const [isShowing, moves] = useDisclosure(false);
  const [isDeleting, deletion] = useDisclosure(false);
  const [isStarting, canary] = useDisclosure(false);
  const [gateOf, setGateOf] = useState('');
  const [isGateOpen, gate] = useDisclosure(false);
  const { data: gates = [] } = useGates(id);
  const own = useOwnTexts(canaries);
  const gateTexts = useOwnTexts(gateWords);
  const openGate = (name: string): void => {
    setGateOf(name);
    gate.open();
  };
  const orphans = gates.filter(({ label }) => labels?.some(({ name }) => name === label) === false);
  const format = useFormat();

  const nameOf = useAuthorName();
  const columns: Column<Label>[] = [
    {
      key: 'name',
      header: texts.columns.name,
      cell: ({ name }) => (
        <Group gap={6} wrap="nowrap">
          <LabelBadge>{name}</LabelBadge>
          {gates.some(({ label }) => label === name) && (
            <IconShieldCheck size={16} role="img" aria-label={gateTexts.hasGate} />
          )}
        </Group>
      ),
    },
    {
      key: 'version',
      header: texts.columns.version,
      width: 180,
      cell: ({ version, canary }) => (
        <>
          {prompts.workspace.version(version)}
          {canary?.ended === undefined && canary !== undefined && (
            <Text span size="xs" c="dimmed">
              {' · '}
              {own.share(format.percent(canary.share), canary.version)}
            </Text>
          )}
        </>
      ),
    },
    {
      key: 'moved',
      header: texts.columns.moved,
      align: 'end',
      cell: ({ moved_at }) => <Time value={moved_at} />,
    },
    { key: 'by', header: texts.columns.by, width: '24%', cell: ({ author }) => nameOf(author) },
    {
      key: 'actions',
      header: shared.table.actions,
      hasNoLabel: true,
      align: 'end',
      width: 200,
      cell: (label) => (
        <Group gap={6} justify="flex-end" wrap="nowrap">
          {onSet !== undefined && (
            <Button
              size="compact-sm"
              variant="default"
              aria-label={texts.moveOf(label.name)}
              onClick={() => {
                onSet({ name: label.name, version: newest });
              }}
            >
              {texts.move}
            </Button>
          )}
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon variant="default" aria-label={texts.moreOf(label.name)}>
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item
                leftSection={<IconHistory size={16} />}
                onClick={() => {
                  setChosen(label);
                  moves.open();
                }}
              >
                {texts.history}
              </Menu.Item>
              <Menu.Item
                leftSection={<IconShieldCheck size={16} />}
                onClick={() => {
                  openGate(label.name);
                }}
              >
                {gateTexts.menu}
              </Menu.Item>
              {onSet !== undefined && newest > 1 && !isRunning(label) && (
                <Menu.Item
                  leftSection={<IconArrowsSplit size={16} />}
                  onClick={() => {
                    setChosen(label);
                    canary.open();
                  }}
                >
                  {own.start}
                </Menu.Item>
              )}
              {onSet !== undefined && (
                <Menu.Item
                  color="red"
                  leftSection={<IconTrash size={16} />}
                  onClick={() => {
                    setChosen(label);
                    deletion.open();
                  }}
                >
                  {texts.delete}
                </Menu.Item>
              )}
            </Menu.Dropdown>
          </Menu>
        </Group>
      ),
    },
  ];

  return (
    <Stack gap="sm" component="section" aria-label={texts.title}>
      <Group justify="space-between" align="flex-end" gap="sm">
        <Stack gap={2} maw={640}>
          <Title order={2} size="h4">
            {texts.title}
          </Title>
          <Text size="sm" c="dimmed">
            {texts.description} {onSet === undefined && texts.noScope}
          </Text>
        </Stack>
        {onSet !== undefined && (
          <Button
            variant="default"
            leftSection={<IconPlus size={16} />}
            onClick={() => {
              onSet({ version: newest });
            }}
          >
            {texts.new}
          </Button>
        )}
      </Group>
      <DataTable
        label={texts.title}
        columns={columns}
        list={{
          rows: labels,
          error,
          retry: () => {
            void refetch();
          },
        }}
        rowKey={({ name }) => name}
        empty={<EmptyState icon={IconTag} text={texts.empty} />}
      />
      {orphans.length > 0 && (
        <Group gap={6}>
          <Text size="sm" c="dimmed">
            {gateTexts.withoutLabel}
          </Text>
          {orphans.map(({ label }) => (
            <Button
              key={label}
              size="compact-sm"
              variant="default"
              onClick={() => {
                openGate(label);
              }}
            >
              {label}
            </Button>
          ))}
        </Group>
      )}
      <GateDialog promptId={id} name={gateOf} newest={newest} isOpen={isGateOpen} onClose={gate.close} />
      {labels?.map(
        (label) =>
          label.canary !== undefined && (
            <CanaryPanel
              key={label.canary.id}
              promptId={id}
              label={label}
              listed={label.canary}
              newest={newest}
              canRelease={onSet !== undefined}
            />
          ),
      )}
      {chosen !== undefined && (
        <>
          <CanaryDialog
            promptId={id}
            newest={newest}
            label={chosen}
            canary={undefined}
            isOpen={isStarting}
            onClose={canary.close}
          />
          <LabelMovesDialog promptId={id} name={chosen.name} isOpen={isShowing} onClose={moves.close} />
          <DeleteLabelDialog promptId={id} label={chosen} isOpen={isDeleting} onClose={deletion.close} />
        </>
      )}
    </Stack>
  );
}

function isRunning({ canary }: Label): boolean {
  return canary !== undefined && canary.ended === undefined;
}
