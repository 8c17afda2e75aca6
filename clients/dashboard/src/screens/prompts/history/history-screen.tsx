import { NativeSelect, Skeleton, Stack, Switch, Text } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { EmptyState } from '../../../shared/empty-state.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { ContentDiff } from '../code/lazy-code.tsx';
import { contentText } from '../content/content-text.ts';
import { versionNumber, versionOptions } from '../content/version-options.ts';
import { useVersion } from '../prompt-queries.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import classes from './history.module.css';
import { VersionTable } from './version-table.tsx';

const route = getRouteApi('/prompts/$promptId/history');

/** The versions of a prompt: two of them side by side, and all in a table. */
export function HistoryScreen(): ReactNode {
  const { prompts } = useTexts();
  const texts = prompts.history;
  const { id, version: newest } = useWorkspace().stored.data;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const after = Math.min(versionNumber(search.after) ?? newest, newest);
  const before = Math.min(versionNumber(search.before) ?? Math.max(1, after - 1), newest);
  const [isFolded, setFolded] = useState(true);

  const select = (label: string, value: number, name: 'before' | 'after'): ReactNode => (
    <NativeSelect
      size="xs"
      label={label}
      value={String(value)}
      data={versionOptions(newest, value, (version) =>
        version === newest ? texts.currentVersion(version) : texts.version(version),
      )}
      onChange={(event) => {
        void navigate({
          to: '.',
          search: { before: String(before), after: String(after), [name]: event.currentTarget.value },
          replace: true,
          resetScroll: false,
        });
      }}
    />
  );

  if (newest === 1) return <EmptyState icon={IconHistory} title={texts.emptyTitle} text={texts.emptyText} />;
  return (
    <Stack gap="xl">
      <Stack gap="sm" component="section" aria-label={texts.compare}>
        <div className={classes.controls}>
          {select(texts.before, before, 'before')}
          {select(texts.after, after, 'after')}
          <Switch
            size="xs"
            label={texts.onlyChanges}
            checked={isFolded}
            className={classes.fold}
            onChange={(event) => {
              setFolded(event.currentTarget.checked);
            }}
          />
        </div>
        <Comparison id={id} before={before} after={after} isFolded={isFolded} />
      </Stack>
      <VersionTable />
    </Stack>
  );
}

function Comparison({
  id,
  before,
  after,
  isFolded,
}: {
  id: string;
  before: number;
  after: number;
  isFolded: boolean;
}): ReactNode {
  const { prompts } = useTexts();
  const texts = prompts.history;
  const older = useVersion(id, before);
  const newer = useVersion(id, after);
  const failed = [older, newer].find(({ error }) => error !== null);
  if (failed !== undefined) {
    return (
      <ProblemAlert
        error={failed.error}
        onRetry={() => {
          void failed.refetch();
        }}
      />
    );
  }
  if (older.data === undefined || newer.data === undefined) return <Skeleton h={240} />;
  const [oldText, newText] = [older.data, newer.data].map((version) => contentText(version, prompts.contentWords));
  if (oldText === newText) return <Text c="dimmed">{texts.same}</Text>;
  return (
    <ContentDiff
      before={{ label: texts.version(before), text: oldText ?? '' }}
      after={{ label: texts.version(after), text: newText ?? '' }}
      isFolded={isFolded}
    />
  );
}
