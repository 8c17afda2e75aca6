import { ActionIcon, Kbd, UnstyledButton } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useTexts } from '../shared/texts.tsx';
import { useKeys } from './keys.ts';
import { entriesFor } from './navigation.ts';
import { useSession } from './session-context.ts';
import classes from './shell.module.css';

const Palette = lazy(async () => ({ default: (await import('./palette/palette.tsx')).Palette }));
const ShortcutList = lazy(async () => ({ default: (await import('./palette/shortcut-list.tsx')).ShortcutList }));

/** What the shortcuts of every page open. */
export interface Shortcuts {
  readonly openSearch: () => void;
  readonly openHelp: () => void;
  /** Stands anywhere in the page. */
  readonly dialog: ReactNode;
}

/** Ctrl or ⌘ + K searches, and the keys of one character. */
export function useShortcuts(): Shortcuts {
  const [opened, setOpened] = useState<'search' | 'help'>();
  const navigate = useNavigate();
  const { scopes } = useSession().key;
  const openSearch = (): void => {
    setOpened('search');
  };
  const openHelp = (): void => {
    setOpened('help');
  };
  useHotkeys([['mod+K', openSearch]], [], true);
  useKeys({
    search: openSearch,
    help: openHelp,
    goTo: (key) => {
      const entry = entriesFor(scopes).find((one) => one.key === key);
      if (entry !== undefined) void navigate({ to: entry.to });
    },
  });
  const close = (): void => {
    setOpened(undefined);
  };
  return {
    openSearch,
    openHelp,
    dialog: (
      <Suspense>
        {opened === 'search' && <Palette onClose={close} />}
        {opened === 'help' && <ShortcutList onClose={close} />}
      </Suspense>
    ),
  };
}

/** Opens the search: with its name, or as an icon. */
export function SearchButton({ isSmall = false, onOpen }: { isSmall?: boolean; onOpen: () => void }): ReactNode {
  const { palette: texts } = useTexts().shell;
  if (isSmall) {
    return (
      <ActionIcon size={44} ms="auto" aria-label={texts.title} onClick={onOpen}>
        <IconSearch size={18} stroke={1.75} />
      </ActionIcon>
    );
  }
  return (
    <UnstyledButton className={classes.search} onClick={onOpen}>
      <IconSearch size={16} stroke={1.75} aria-hidden />
      <span>{texts.title}</span>
      <Kbd size="xs" aria-hidden>
        Ctrl K
      </Kbd>
    </UnstyledButton>
  );
}
