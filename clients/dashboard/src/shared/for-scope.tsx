import { IconLock } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import type { Scope } from '../app/session.ts';
import { useScope } from '../app/session-context.ts';
import { EmptyState } from './empty-state.tsx';
import { Page } from './page.tsx';
import { useTexts } from './texts.tsx';

/** Shows a form or a screen to a key that may use it. To another key it says which scope is missing. */
export function ForScope({
  scope,
  title,
  children,
}: {
  scope: Scope;
  /** Heading of the screen, if what it guards has its own. */
  title?: string;
  children: ReactNode;
}): ReactNode {
  const { missingScope } = useTexts().shared;
  const isAllowed = useScope(scope);
  // After a new sign-in with another key, the form keeps what was typed.
  const [wasAllowed] = useState(isAllowed);
  if (isAllowed || wasAllowed) return children;
  const reason = <EmptyState icon={IconLock} title={missingScope.title} text={missingScope.text(scope)} />;
  return title === undefined ? reason : <Page title={title}>{reason}</Page>;
}
