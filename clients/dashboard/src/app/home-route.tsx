import { createRoute, Navigate } from '@tanstack/react-router';
import { IconLock } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { EmptyState } from '../shared/empty-state.tsx';
import { Page } from '../shared/page.tsx';
import { useTexts } from '../shared/texts.tsx';
import { entriesFor } from './navigation.ts';
import { rootRoute } from './root-route.tsx';
import { useSession } from './session-context.ts';

/** The start page leads to the first screen that the key may see. */
export const homeRoute = createRoute({ getParentRoute: () => rootRoute, path: '/', component: Home });

function Home(): ReactNode {
  const texts = useTexts().shell.nothingAllowed;
  const { scopes } = useSession().key;
  const [first] = entriesFor(scopes);
  if (first !== undefined) return <Navigate to={first.to} replace />;
  return (
    <Page title={texts.title}>
      <EmptyState icon={IconLock} text={texts.text} />
    </Page>
  );
}
