import { createRootRoute } from '@tanstack/react-router';
import { FrameFailed, PageNotFound } from './failures.tsx';
import { Shell } from './shell.tsx';

/** The route around all screens. */
export const rootRoute = createRootRoute({
  component: Shell,
  notFoundComponent: PageNotFound,
  errorComponent: FrameFailed,
});
