import { AppShell, Burger, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useLocation, useRouter } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { ForScope } from '../shared/for-scope.tsx';
import { useTexts } from '../shared/texts.tsx';
import { AccountMenu } from './account-menu.tsx';
import { ModeNotice } from './mode-notice.tsx';
import { entryOf } from './navigation.ts';
import { NavigationLinks } from './navigation-links.tsx';
import { Product } from './product.tsx';
import { Reachability } from './reachability.tsx';
import classes from './shell.module.css';
import { SearchButton, useShortcuts } from './shortcuts.tsx';

/** The frame around all screens: navigation, account, and the place of the screen. */
export function Shell(): ReactNode {
  const { shell: texts } = useTexts();
  const [isOpen, { close, toggle }] = useDisclosure(false);
  const router = useRouter();
  const { openSearch, openHelp, dialog } = useShortcuts();

  useEffect(
    () =>
      router.subscribe('onRendered', ({ pathChanged, fromLocation }) => {
        if (!pathChanged || fromLocation === undefined) return;
        close();
        document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
      }),
    [router, close],
  );

  return (
    <AppShell
      layout="alt"
      header={{ height: { base: 52, sm: 0 } }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      withBorder={false}
    >
      <a href="#content" className={classes.skip} onClick={skipToContent}>
        {texts.skipToContent}
      </a>
      <AppShell.Header className={classes.header} hiddenFrom="sm">
        <Group h="100%" px="md" gap="sm">
          <Burger opened={isOpen} onClick={toggle} size="sm" aria-label={texts.openNavigation} aria-expanded={isOpen} />
          <Product />
          <SearchButton isSmall onOpen={openSearch} />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={classes.navbar} aria-label={texts.navigation}>
        <AppShell.Section px="md" h={52} className={classes.brand}>
          <Product />
          <Burger hiddenFrom="sm" opened onClick={close} size="sm" aria-label={texts.closeNavigation} />
        </AppShell.Section>
        <AppShell.Section px="xs" pb="sm" visibleFrom="sm">
          <SearchButton onOpen={openSearch} />
        </AppShell.Section>
        <AppShell.Section grow px="xs" className={classes.entries}>
          <NavigationLinks onNavigate={close} />
        </AppShell.Section>
        <AppShell.Section p="xs" className={classes.foot}>
          <AccountMenu onShortcuts={openHelp} />
        </AppShell.Section>
      </AppShell.Navbar>
      {dialog}
      <AppShell.Main id="content" tabIndex={-1} className={classes.main}>
        <div className={classes.content}>
          <Reachability />
          <ModeNotice />
          <Screen />
        </div>
      </AppShell.Main>
    </AppShell>
  );
}

/** The screen of the address, if the key may see it. */
function Screen(): ReactNode {
  const { shell: texts } = useTexts();
  const entry = entryOf(useLocation().pathname);
  if (entry?.scope === undefined) return <Outlet />;
  return (
    <ForScope key={entry.to} scope={entry.scope} title={texts.entries[entry.text]}>
      <Outlet />
    </ForScope>
  );
}

/** `<base>` would make a link to `#content` a link to another page. */
function skipToContent(event: React.MouseEvent): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}
