import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { searchOf } from '../../shared/search.ts';

/** The providers. The address has the one that is open. */
export const providersRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/providers',
    validateSearch: searchOf({ provider: 'text' }),
    component: lazyRouteComponent(() => import('./providers-screen.tsx'), 'ProvidersScreen'),
  }),
] as const;
