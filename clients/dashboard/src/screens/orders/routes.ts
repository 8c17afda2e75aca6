import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { searchOf } from '../../shared/search.ts';

/** The list of orders, one order, and the form of a test order. */
export const ordersRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/orders',
    validateSearch: searchOf({
      status: ['open', 'completed', 'canceled'],
      location_id: 'text',
      since: 'text',
      until: 'text',
      reference_id: 'text',
    }),
    component: lazyRouteComponent(() => import('./orders-screen.tsx'), 'OrdersScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/orders/new',
    validateSearch: searchOf({ location_id: 'text' }),
    component: lazyRouteComponent(() => import('./new-order-screen.tsx'), 'NewOrderScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/orders/$id',
    component: lazyRouteComponent(() => import('./order-screen.tsx'), 'OrderScreen'),
  }),
] as const;
