import { Button, Group } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { CopyButton } from '../../../shared/copy.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import classes from './long-text.module.css';

/** Characters that are shown at first, and with each further step: an answer can have ten million. */
const step = 20_000;

/** A text as it is, in a box that scrolls. Of a long one the beginning is shown, and more on demand. */
export function LongText({ text, label }: { text: string; label: string }): ReactNode {
  const { prompts } = useTexts();
  const format = useFormat();
  const [shown, setShown] = useState(step);
  const rest = text.length - shown;
  return (
    <div className={classes.frame}>
      <div className={classes.box} role="region" aria-label={label} tabIndex={0}>
        {text === '' ? <em className={classes.none}>{prompts.longText.empty}</em> : text.slice(0, shown)}
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
