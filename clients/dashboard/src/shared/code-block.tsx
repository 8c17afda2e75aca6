import { ScrollArea } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './code-block.module.css';
import { CopyButton } from './copy.tsx';

/**
 * Code or data as text, with a button that copies it.
 * @param label what it is, for screen readers
 * @param copied what is copied, if it is not what is shown
 */
export function CodeBlock({
  code,
  label,
  copied = code,
  maxHeight = 360,
}: {
  code: string;
  label: string;
  copied?: string;
  maxHeight?: number;
}): ReactNode {
  return (
    <div className={classes.block}>
      <ScrollArea.Autosize mah={maxHeight} viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': label }}>
        <pre className={classes.code}>{code}</pre>
      </ScrollArea.Autosize>
      <div className={classes.copy}>
        <CopyButton value={copied} label={label} />
      </div>
    </div>
  );
}
