import type { ReactNode } from 'react';
import classes from './status-badge.module.css';

/** What a status means for the reader. */
export type Tone = 'ok' | 'info' | 'warning' | 'danger' | 'neutral';

/** A status: a colour and a word, never the colour alone. */
export function StatusBadge({ tone, children }: { tone: Tone; children: ReactNode }): ReactNode {
  return (
    <span className={classes.badge} data-tone={tone}>
      {children}
    </span>
  );
}
