import { Button, Group } from '@mantine/core';
import { useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { CopyButton } from '../../../shared/copy.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import classes from './long-text.module.css';

/** Characters that are shown at first, and with each further step: an answer can have ten million. */
const step = 20_000;

/**
 * A text as it is, in a box that scrolls. Of a long one the beginning is shown, and more on demand. Of one that grows
 * the end is shown and stays in view, unless the reader scrolls up; screen readers do not read it piece by piece.
 */
export function LongText({
  text,
  label,
  isGrowing = false,
}: {
  text: string;
  label: string;
  isGrowing?: boolean;
}): ReactNode {
  const { prompts } = useTexts();
  const format = useFormat();
  const [shown, setShown] = useState(step);
  const rest = isGrowing ? 0 : text.length - shown;
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (isGrowing && isAtEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [text, isGrowing]);
  return (
    <div className={classes.frame}>
      <div
        ref={box}
        className={classes.box}
        role="region"
        aria-label={label}
        aria-live={isGrowing ? 'off' : undefined}
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < 24;
        }}
      >
        {text === '' ? (
          <em className={classes.none}>{prompts.longText.empty}</em>
        ) : isGrowing ? (
          text.slice(-step)
        ) : (
          text.slice(0, shown)
        )}
      </div>
      <Group gap={4} className={classes.actions}>
        <CopyButton value={text} label={label} />
      </Group>
      {rest > 0 && (
        <Button
          variant="subtle"
          size="compact-xs"
          onClick={() => {
            setShown(shown + 10 * step);
          }}
        >
          {prompts.longText.more(format.number(rest))}
        </Button>
      )}
    </div>
  );
}
