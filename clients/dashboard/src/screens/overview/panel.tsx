import { Paper, Skeleton, Text, Title } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { Link, type LinkProps } from '@tanstack/react-router';
import { useId, type ReactNode } from 'react';
import { followLink } from '../../shared/follow-link.ts';
import { TextLink } from '../../shared/links.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import classes from './panel.module.css';

type Target = Pick<LinkProps, 'to' | 'params' | 'search'>;

/** A short list with a heading, and a link to the whole list. */
export function Panel({
  title,
  all,
  query,
  children,
}: {
  title: string;
  all?: Target & { label: string };
  /** What the panel reads: a problem and a skeleton are shown in place of the list. */
  query: { data: unknown; error: unknown; refetch: () => unknown };
  children: ReactNode;
}): ReactNode {
  const id = useId();
  return (
    <Paper withBorder component="section" aria-labelledby={id}>
      <div className={classes.head}>
        <Title order={2} size="h4" id={id}>
          {title}
        </Title>
        {all !== undefined && (
          <TextLink {...all} size="sm" ta="end">
            {all.label}
          </TextLink>
        )}
      </div>
      {query.data !== undefined ? (
        children
      ) : (
        <div className={classes.loading}>
          {query.error === null ? (
            <Skeleton height={52} />
          ) : (
            <ProblemAlert error={query.error} onRetry={() => void query.refetch()} />
          )}
        </div>
      )}
    </Paper>
  );
}

/** The rows of a panel. */
export function PanelList({ children }: { children: ReactNode }): ReactNode {
  return <ul className={classes.list}>{children}</ul>;
}

/** A row, which can lead somewhere: its name, more about it, and what stands at its end. */
export function PanelRow({
  name,
  target,
  text,
  children,
}: {
  name: ReactNode;
  target?: Target | undefined;
  text?: ReactNode;
  children?: ReactNode;
}): ReactNode {
  return (
    <li className={classes.row} onClick={followLink}>
      <div className={classes.text}>
        {target === undefined ? (
          <Text size="sm" fw={500}>
            {name}
          </Text>
        ) : (
          <Link {...target} className={classes.link}>
            {name}
          </Link>
        )}
        {text !== undefined && (
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {text}
          </Text>
        )}
      </div>
      <div className={classes.side}>{children}</div>
    </li>
  );
}

/** A sentence in a panel. */
export function PanelNote({ isGood = false, children }: { isGood?: boolean; children: ReactNode }): ReactNode {
  return (
    <div className={classes.note}>
      {isGood && <IconCircleCheck size={16} stroke={1.75} aria-hidden />}
      <span>{children}</span>
    </div>
  );
}
