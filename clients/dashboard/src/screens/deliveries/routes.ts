import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { searchOf } from '../../shared/search.ts';
import { outcomes } from './outcomes.ts';

/** The list of deliveries, and one delivery with its attempts. */
export const deliveriesRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/deliveries',
    validateSearch: searchOf({
      status: ['pending', 'retrying', 'delivered', 'failed', 'held', 'expired', 'waiting'],
      last_outcome: outcomes,
      event_type: 'text',
      integration_id: 'text',
      target_id: 'text',
      event_id: 'text',
      since: 'text',
      until: 'text',
    }),
    component: lazyRouteComponent(() => import('./deliveries-screen.tsx'), 'DeliveriesScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/deliveries/$id',
    component: lazyRouteComponent(() => import('./delivery-screen.tsx'), 'DeliveryScreen'),
  }),
] as const;
