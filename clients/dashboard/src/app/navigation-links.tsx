import { IconBook2 } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useId, type ReactNode } from 'react';
import { useTexts } from '../shared/texts.tsx';
import { serviceUrl } from './gateway.ts';
import { entriesFor, type NavigationEntry } from './navigation.ts';
import { useSession } from './session-context.ts';
import classes from './shell.module.css';

/** The navigation, with the entries that the key may see. */
export function NavigationLinks({ onNavigate }: { onNavigate: () => void }): ReactNode {
  const { shell: texts } = useTexts();
  const { scopes } = useSession().key;
  const groups = Map.groupBy(entriesFor(scopes), ({ group }) => group);
  return (
    <>
      {Array.from(groups, ([group, entries]) => (
        <Group key={group ?? ''} title={group && texts.groups[group]}>
          {entries.map((entry) => (
            <Entry key={entry.text} entry={entry} onNavigate={onNavigate} />
          ))}
        </Group>
      ))}
      <ul className={classes.list}>
        <li>
          <a className={classes.link} href={new URL('docs', serviceUrl).href} target="_blank" rel="noopener noreferrer">
            <IconBook2 size={16} stroke={1.75} aria-hidden />
            {texts.reference}
          </a>
        </li>
      </ul>
    </>
  );
}

function Group({ title, children }: { title: string | undefined; children: ReactNode }): ReactNode {
  const id = useId();
  return (
    <div className={classes.group}>
      {title !== undefined && (
        <div id={id} className={classes.groupTitle}>
          {title}
        </div>
      )}
      <ul className={classes.list} aria-labelledby={title && id}>
        {children}
      </ul>
    </div>
  );
}

function Entry({ entry, onNavigate }: { entry: NavigationEntry; onNavigate: () => void }): ReactNode {
  const { shell: texts } = useTexts();
  return (
    <li>
      <Link to={entry.to} className={classes.link} activeOptions={{ includeSearch: false }} onClick={onNavigate}>
        <entry.icon size={16} stroke={1.75} aria-hidden />
        {texts.entries[entry.text]}
      </Link>
    </li>
  );
}
