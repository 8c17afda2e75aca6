import { Text, UnstyledButton } from '@mantine/core';
import { useMemo, useState, type ReactNode } from 'react';
import { DataTable, type Column } from '../../../shared/data-table.tsx';
import { TextLink } from '../../../shared/links.tsx';
import { StatusBadge, type Tone } from '../../../shared/status-badge.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import classes from './outcome-table.module.css';
import type { ReadPrompt } from './read-files.ts';
import type { Outcome, Outcomes } from './send-prompts.ts';

interface Row {
  readonly key: string;
  readonly prompt: ReadPrompt['prompt'];
  readonly outcome: Outcome | undefined;
  readonly findings: Outcome['findings'];
  readonly isRefused: boolean;
}

const tones: Readonly<Record<string, Tone>> = {
  created: 'ok',
  updated: 'info',
  unchanged: 'neutral',
  skipped: 'warning',
  refused: 'danger',
};
/** Findings that are shown before the others are only counted. */
const shownAtFirst = 3;

/** What becomes of each prompt: those that are refused first, then those with notes. */
export function OutcomeTable({
  prompts,
  outcomes,
  isDone,
}: {
  prompts: readonly ReadPrompt[];
  outcomes: Outcomes;
  /** Whether it was stored; otherwise the table says what would become of it. */
  isDone: boolean;
}): ReactNode {
  const { transfer: texts } = useTexts();
  const rows = useMemo(() => {
    const all = prompts.map(({ prompt, notes, isRepeated }, index): Row => {
      const outcome = isRepeated ? undefined : outcomes.get(prompt.slug);
      const found = isRepeated ? [{ place: 'slug', detail: texts.repeated }] : (outcome?.findings ?? []);
      const findings = [...found, ...notes.map((detail) => ({ place: '', detail }))];
      return { key: String(index), prompt, outcome, findings, isRefused: isRepeated || outcome?.status === 'refused' };
    });
    const rank = ({ isRefused, findings }: Row): number => (isRefused ? 0 : findings.length > 0 ? 1 : 2);
    return all.toSorted((one, other) => rank(one) - rank(other));
  }, [prompts, outcomes, texts]);
  return (
    <DataTable
      label={texts.table}
      columns={useColumns(isDone)}
      list={{ rows, total: rows.length }}
      rowKey={({ key }) => key}
      empty={null}
    />
  );
}

function useColumns(isDone: boolean): Column<Row>[] {
  const { transfer: texts, shared } = useTexts();
  const format = useFormat();
  const statuses: Readonly<Record<string, string>> = isDone ? texts.done : texts.planned;
  const statusOf = ({ outcome, isRefused }: Row): string | undefined => (isRefused ? 'refused' : outcome?.status);
  return [
    {
      key: 'prompt',
      header: texts.columns.prompt,
      width: '32%',
      sortBy: ({ prompt }) => prompt.slug,
      cell: ({ prompt: { slug, name }, outcome }) => (
        <Text size="sm" title={name}>
          {isDone && outcome?.id !== undefined ? (
            <TextLink to="/prompts/$promptId" params={{ promptId: outcome.id }}>
              {slug}
            </TextLink>
          ) : (
            slug
          )}
        </Text>
      ),
    },
    {
      key: 'versions',
      header: texts.columns.versions,
      align: 'end',
      sortBy: ({ prompt }) => prompt.versions.length,
      cell: ({ prompt }) => format.number(prompt.versions.length),
    },
    {
      key: 'status',
      header: texts.columns.status,
      sortBy: statusOf,
      cell: (row) => {
        const status = statusOf(row);
        return status === undefined ? (
          shared.none
        ) : (
          <StatusBadge tone={tones[status] ?? 'neutral'}>{statuses[status] ?? status}</StatusBadge>
        );
      },
    },
    {
      key: 'findings',
      header: texts.columns.findings,
      sortBy: ({ findings }) => findings.length,
      cell: ({ findings }) => <Findings findings={findings} />,
    },
  ];
}

function Findings({ findings }: Pick<Row, 'findings'>): ReactNode {
  const { shared } = useTexts();
  const [isOpen, setOpen] = useState(false);
  const shown = isOpen ? findings : findings.slice(0, shownAtFirst);
  if (findings.length === 0) return shared.none;
  return (
    <>
      <ul className={classes.findings}>
        {shown.map(({ place, detail }, index) => (
          <li key={index}>
            {place !== '' && <span className={classes.place}>{place}</span>}
            {detail}
          </li>
        ))}
      </ul>
      {findings.length > shownAtFirst && (
        <UnstyledButton
          c="dimmed"
          fz="xs"
          onClick={() => {
            setOpen(!isOpen);
          }}
        >
          {isOpen ? shared.hide : `${shared.show} (${findings.length})`}
        </UnstyledButton>
      )}
    </>
  );
}
