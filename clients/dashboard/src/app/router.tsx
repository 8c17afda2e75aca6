import { createRouter } from '@tanstack/react-router';
import { apiKeysRoutes } from '../screens/api-keys/routes.ts';
import { auditLogRoutes } from '../screens/audit-log/routes.ts';
import { costsRoutes } from '../screens/costs/routes.ts';
import { datasetsRoutes } from '../screens/datasets/routes.ts';
import { deliveriesRoutes } from '../screens/deliveries/routes.ts';
import { integrationsRoutes } from '../screens/integrations/routes.ts';
import { invocationsRoutes } from '../screens/invocations/routes.ts';
import { locationsRoutes } from '../screens/locations/routes.ts';
import { ordersRoutes } from '../screens/orders/routes.ts';
import { overviewRoutes } from '../screens/overview/routes.ts';
import { peopleRoutes } from '../screens/people/routes.ts';
import { productsRoutes } from '../screens/products/routes.ts';
import { promptsRoutes } from '../screens/prompts/routes.ts';
import { providersRoutes } from '../screens/providers/routes.ts';
import { replaysRoutes } from '../screens/replays/routes.ts';
import { PageFailed } from './failures.tsx';
import { basePath } from './gateway.ts';
import { homeRoute } from './home-route.tsx';
import { rootRoute } from './root-route.tsx';

/** All screens. Each loads its script when it is opened. */
export const router = createRouter({
  routeTree: rootRoute.addChildren([
    homeRoute,
    ...overviewRoutes,
    ...promptsRoutes,
    ...datasetsRoutes,
    ...invocationsRoutes,
    ...costsRoutes,
    ...providersRoutes,
    ...ordersRoutes,
    ...locationsRoutes,
    ...productsRoutes,
    ...integrationsRoutes,
    ...replaysRoutes,
    ...deliveriesRoutes,
    ...apiKeysRoutes,
    ...peopleRoutes,
    ...auditLogRoutes,
  ]),
  basepath: basePath,
  // All values in addresses are texts, as people write them: `?status=active`.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (values) => {
    const set = Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
    return set.length === 0 ? '' : `?${new URLSearchParams(set).toString()}`;
  },
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultErrorComponent: PageFailed,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
