import { Link, useLocation } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import classes from './prompt-tabs.module.css';

/** The screens of one prompt. They are links, so each opens in a tab of the browser, too. */
export function PromptTabs({ promptId }: { promptId: string }): ReactNode {
  const { tabs, navigation } = useTexts().prompts.workspace;
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const common = { params: { promptId }, className: classes.tab ?? '' };

  // On a phone the tabs scroll sideways.
  useEffect(() => {
    nav.current?.querySelector('[aria-current="page"]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [pathname]);

  return (
    <nav ref={nav} aria-label={navigation} className={classes.tabs}>
      <Link to="/prompts/$promptId" activeOptions={{ exact: true }} {...common}>
        {tabs.editor}
      </Link>
      <Link to="/prompts/$promptId/playground" {...common}>
        {tabs.playground}
      </Link>
      <Link to="/prompts/$promptId/test-runs" {...common}>
        {tabs.testRuns}
      </Link>
      <Link to="/prompts/$promptId/evaluations" activeOptions={{ includeSearch: false }} {...common}>
        {tabs.evaluations}
      </Link>
      <Link to="/prompts/$promptId/history" activeOptions={{ includeSearch: false }} {...common}>
        {tabs.history}
      </Link>
      <Link to="/prompts/$promptId/statistics" activeOptions={{ includeSearch: false }} {...common}>
        {tabs.statistics}
      </Link>
    </nav>
  );
}
