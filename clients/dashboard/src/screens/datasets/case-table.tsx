import { Anchor, Stack, Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { Dialog } from '../../shared/dialog.tsx';
import { DataTable, type Column } from '../../shared/data-table.tsx';
import { FactTable } from '../../shared/fact-table.tsx';
import { JsonView } from '../../shared/json-view.tsx';
import { TextLink } from '../../shared/links.tsx';
import { StatusBadge } from '../../shared/status-badge.tsx';
import { useOwnTexts, useTexts } from '../../shared/texts.tsx';
import type { ListState } from '../../shared/use-list.ts';
import { datasets } from '../../texts/datasets.ts';

/** A case in a data set, or in a file: then it can lack an id, and have a line. */
export type ShownCase = Omit<Partial<Schemas['DatasetCase']>, 'id'> & {
  readonly id?: string;
  readonly line?: number;
};

/** Cases with the beginning of what they have. A click on one shows all of it. */
export function CaseTable<Case extends ShownCase>({
  label,
  list,
  keyOf,
  empty,
}: {
  label: string;
  list: ListState<Case>;
  keyOf: (one: Case) => string;
  empty: ReactNode;
}): ReactNode {
  const texts = useOwnTexts(datasets);
  const [opened, setOpened] = useState<Case>();
  return (
    <>
      <DataTable label={label} columns={useColumns<Case>(setOpened)} list={list} rowKey={keyOf} empty={empty} />
      <Dialog
        opened={opened !== undefined}
        onClose={() => {
          setOpened(undefined);
        }}
        size="lg"
        title={opened && (opened.id ?? texts.case.inLine(opened.line ?? 0))}
      >
        {opened !== undefined && <CaseContent content={opened} />}
      </Dialog>
    </>
  );
}

/** All of a case. */
export function CaseContent({ content }: { content: ShownCase }): ReactNode {
  const { case: texts } = useOwnTexts(datasets);
  const { invocation_id: invocation, tags = [], group, erased = false } = content;
  const facts = [
    tags.length > 0 && { label: texts.tags, value: tags.join(', ') },
    group !== undefined && { label: texts.group, value: group },
    invocation !== undefined && {
      label: texts.madeOf,
      value: (
        <TextLink to="/invocations/$id" params={{ id: invocation }} size="sm">
          {invocation}
        </TextLink>
      ),
    },
  ];
  return (
    <Stack gap="sm">
      {erased && <Text c="dimmed">{texts.erasedText}</Text>}
      {facts.some((fact) => fact !== false) && <FactTable facts={facts} />}
      {(['variables', 'messages', 'expected', 'checks'] as const).map(
        (name) =>
          content[name] !== undefined && (
            <Stack key={name} gap={4}>
              <Text size="sm" fw={500}>
                {texts[name]}
              </Text>
              <JsonView value={content[name]} label={texts[name]} />
            </Stack>
          ),
      )}
    </Stack>
  );
}

function useColumns<Case extends ShownCase>(open: (one: Case) => void): Column<Case>[] {
  const { case: texts } = useOwnTexts(datasets);
  const { shared } = useTexts();
  return [
    {
      key: 'id',
      header: texts.id,
      width: '24%',
      cell: (one) => (
        <Anchor
          component="button"
          type="button"
          size="sm"
          ta="start"
          style={{ overflowWrap: 'anywhere' }}
          onClick={() => {
            open(one);
          }}
        >
          {one.id ?? texts.inLine(one.line ?? 0)}
        </Anchor>
      ),
    },
    {
      key: 'asked',
      header: texts.asked,
      cell: (one) =>
        one.erased === true ? (
          <StatusBadge tone="neutral">{texts.erased}</StatusBadge>
        ) : (
          <Clipped text={askedIn(one) ?? shared.none} />
        ),
    },
    {
      key: 'expected',
      header: texts.expected,
      width: '20%',
      isHiddenOnPhone: true,
      cell: ({ expected }) => (expected === undefined ? shared.none : <Clipped text={textOf(expected)} />),
    },
    {
      key: 'checks',
      header: texts.checks,
      width: '15%',
      isHiddenOnPhone: true,
      cell: ({ checks }) => (checks === undefined ? shared.none : <Clipped text={checks.map(typeOf).join(', ')} />),
    },
    {
      key: 'tags',
      header: texts.tags,
      width: '13%',
      isHiddenOnPhone: true,
      cell: ({ tags = [] }) => (tags.length === 0 ? shared.none : <Clipped text={tags.join(', ')} />),
    },
  ];
}

/** Characters that a cell shows. */
const shownCharacters = 160;

function Clipped({ text }: { text: string }): ReactNode {
  return (
    <Text span size="sm" lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
      {text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text}
    </Text>
  );
}

/** The values of the variables, and what the conversation ends with. */
function askedIn({ variables = {}, messages = [] }: ShownCase): string | undefined {
  const said = messages.at(-1)?.['content'];
  const parts = [
    ...Object.entries(variables).map(([name, value]) => `${name}: ${textOf(value)}`),
    ...(said === undefined || said === null ? [] : [textOf(said)]),
  ];
  return parts.length === 0 ? undefined : parts.join(' · ');
}

function typeOf(check: unknown): string {
  return typeof check === 'object' && check !== null && 'type' in check ? String(check.type) : '?';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
