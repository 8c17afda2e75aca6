import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';

/** The replays to an integration. */
export const replaysRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/integrations/$id/replays',
    component: lazyRouteComponent(() => import('./replays-screen.tsx'), 'ReplaysScreen'),
  }),
] as const;
