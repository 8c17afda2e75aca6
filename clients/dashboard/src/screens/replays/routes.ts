import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { searchOf } from '../../shared/search.ts';

/** The replays to an integration. */
export const replaysRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/integrations/$id/replays',
    validateSearch: searchOf({ failed_since: 'text' }),
    component: lazyRouteComponent(() => import('./replays-screen.tsx'), 'ReplaysScreen'),
  }),
] as const;
