import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { searchOf } from '../../shared/search.ts';

/** The list of integrations, one integration, and the forms of a new and a present one. */
export const integrationsRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/integrations',
    component: lazyRouteComponent(() => import('./integrations-screen.tsx'), 'IntegrationsScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/integrations/new',
    component: lazyRouteComponent(() => import('./new-integration-screen.tsx'), 'NewIntegrationScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/integrations/$id',
    validateSearch: searchOf({ span: ['hour', 'day'] }),
    component: lazyRouteComponent(() => import('./integration-screen.tsx'), 'IntegrationScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/integrations/$id/edit',
    component: lazyRouteComponent(() => import('./edit-integration-screen.tsx'), 'EditIntegrationScreen'),
  }),
] as const;
