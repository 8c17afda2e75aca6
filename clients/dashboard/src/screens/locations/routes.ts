import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { searchOf } from '../../shared/search.ts';

/** The list of locations, the form, and one location with its fiscal days. */
export const locationsRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/locations',
    validateSearch: searchOf({ archived: ['include', 'only'] }),
    component: lazyRouteComponent(() => import('./locations-screen.tsx'), 'LocationsScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/locations/new',
    component: lazyRouteComponent(() => import('./new-location-screen.tsx'), 'NewLocationScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/locations/$id',
    component: lazyRouteComponent(() => import('./location-screen.tsx'), 'LocationScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/locations/$id/edit',
    component: lazyRouteComponent(() => import('./edit-location-screen.tsx'), 'EditLocationScreen'),
  }),
] as const;
