import { AppShell, Burger, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useRouter } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { useTexts } from '../shared/texts.tsx';
import { AccountMenu } from './account-menu.tsx';
import { NavigationLinks } from './navigation-links.tsx';
import { Product } from './product.tsx';
import classes from './shell.module.css';

/** The frame around all screens: navigation, account, and the place of the screen. */
export function Shell(): ReactNode {
  const { shell: texts } = useTexts();
  const [isOpen, { close, toggle }] = useDisclosure(false);
  const router = useRouter();

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
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={classes.navbar} aria-label={texts.navigation}>
        <AppShell.Section px="md" h={52} className={classes.brand}>
          <Product />
          <Burger hiddenFrom="sm" opened onClick={close} size="sm" aria-label={texts.closeNavigation} />
        </AppShell.Section>
        <AppShell.Section grow px="xs" className={classes.entries}>
          <NavigationLinks onNavigate={close} />
        </AppShell.Section>
        <AppShell.Section p="xs" className={classes.foot}>
          <AccountMenu />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} className={classes.main}>
        <div className={classes.content}>
          <Outlet />
        </div>
      </AppShell.Main>
    </AppShell>
  );
}

/** `<base>` would make a link to `#content` a link to another page. */
function skipToContent(event: React.MouseEvent): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}
