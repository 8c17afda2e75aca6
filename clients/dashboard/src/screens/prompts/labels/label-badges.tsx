import { Badge } from '@mantine/core';
import { IconTag } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { TextLink } from '../../../shared/links.tsx';
import { useTexts } from '../../../shared/texts.tsx';

/** Labels that are shown before the others are only counted. */
const shownAtFirst = 3;

/** The name of a label, or what it says of one. */
export function LabelBadge({ children }: { children: string }): ReactNode {
  return (
    <Badge
      variant="default"
      tt="none"
      radius="sm"
      h="auto"
      mih={20}
      maw="100%"
      leftSection={<IconTag size={12} aria-hidden />}
      // Names have up to 32 characters; a cut one can be mistaken for another.
      styles={{ label: { overflow: 'visible', whiteSpace: 'normal', overflowWrap: 'anywhere' } }}
    >
      {children}
    </Badge>
  );
}

/** The labels of a prompt: `production` first, then those of newer versions first. */
export function inOrder(labels: Readonly<Record<string, number>>): [name: string, version: number][] {
  return Object.entries(labels).sort(
    ([a, versionA], [b, versionB]) =>
      Number(b === 'production') - Number(a === 'production') || versionB - versionA || a.localeCompare(b),
  );
}

/** The labels of a prompt with the versions that they name. */
export function LabelBadges({
  promptId,
  labels,
}: {
  promptId: string;
  labels: Readonly<Record<string, number>>;
}): ReactNode {
  const { labels: texts } = useTexts();
  const entries = inOrder(labels);
  const more = entries.length - shownAtFirst;
  return (
    <>
      {entries.slice(0, shownAtFirst).map(([name, version]) => (
        <LabelBadge key={name}>{texts.badge(name, version)}</LabelBadge>
      ))}
      {more > 0 && (
        <TextLink size="xs" to="/prompts/$promptId/history" params={{ promptId }}>
          {texts.more(more)}
        </TextLink>
      )}
    </>
  );
}
