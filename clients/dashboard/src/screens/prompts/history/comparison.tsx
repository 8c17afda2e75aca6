import { Skeleton, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { ContentDiff } from '../code/lazy-code.tsx';
import { contentText } from '../content/content-text.ts';
import { contentDraftOf } from '../content/prompt-draft.ts';
import { useVersion } from '../prompt-queries.ts';

/** Two versions of a prompt with their differences. */
export function Comparison({
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
  const [oldText, newText] = [older.data, newer.data].map((version) =>
    contentText(contentDraftOf(version), prompts.contentWords),
  );
  if (oldText === newText) return <Text c="dimmed">{texts.same}</Text>;
  return (
    <ContentDiff
      before={{ label: texts.version(before), text: oldText ?? '' }}
      after={{ label: texts.version(after), text: newText ?? '' }}
      isFolded={isFolded}
    />
  );
}
