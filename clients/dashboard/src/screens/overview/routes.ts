import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { searchOf } from '../../shared/search.ts';

/** What the service did in the last hour or day. */
export const overviewRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/overview',
    validateSearch: searchOf({ span: ['hour', 'day'] }),
    component: lazyRouteComponent(() => import('./overview-screen.tsx'), 'OverviewScreen'),
  }),
] as const;
