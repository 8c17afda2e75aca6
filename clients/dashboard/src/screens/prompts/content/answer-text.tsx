import { Button, Group } from '@mantine/core';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import { LongText } from './long-text.tsx';

const Markdown = lazy(async () => ({ default: (await import('./markdown.tsx')).Markdown }));

/** Longer texts are shown as they are. */
const longest = 100_000;
/** Headings, lists, quotations, tables and code at the beginning of a line; emphasis, code and links within one. */
const marks = /^ {0,3}(#{1,6} |[-*+] |\d+\. |> |```|\|.*\|)|\*\*\S|`[^`]+`|\[[^\]]+\]\([^)]+\)/m;

/** The text of an answer: formatted if it is Markdown and complete, and as it is on demand. */
export function AnswerText({ text, label, isGrowing }: { text: string; label: string; isGrowing: boolean }): ReactNode {
  const { longText: texts } = useTexts().prompts;
  const [isRaw, setIsRaw] = useState(false);
  const raw = <LongText text={text} label={label} isGrowing={isGrowing} />;
  if (isGrowing || text.length > longest || !marks.test(text)) return raw;
  return (
    <div>
      {isRaw ? (
        raw
      ) : (
        <Suspense fallback={raw}>
          <Markdown text={text} label={label} />
        </Suspense>
      )}
      <Group justify="flex-end" mt={4}>
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          onClick={() => {
            setIsRaw(!isRaw);
          }}
        >
          {isRaw ? texts.formatted : texts.raw}
        </Button>
      </Group>
    </div>
  );
}
