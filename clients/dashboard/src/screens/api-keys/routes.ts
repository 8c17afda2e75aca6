import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { searchOf } from '../../shared/search.ts';

/** The list of API keys, and the forms of a new and a present one. */
export const apiKeysRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/api-keys',
    validateSearch: searchOf({ status: ['active', 'expired', 'revoked'] }),
    component: lazyRouteComponent(() => import('./api-keys-screen.tsx'), 'ApiKeysScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/api-keys/new',
    component: lazyRouteComponent(() => import('./new-api-key-screen.tsx'), 'NewApiKeyScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/api-keys/$id/edit',
    component: lazyRouteComponent(() => import('./edit-api-key-screen.tsx'), 'EditApiKeyScreen'),
  }),
] as const;
