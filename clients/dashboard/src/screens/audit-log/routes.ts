import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { searchOf } from '../../shared/search.ts';
import { resourceTypes } from './resource-types.ts';

/** The audit log. */
export const auditLogRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/audit-log',
    validateSearch: searchOf({
      resource_type: resourceTypes,
      resource_id: 'text',
      author_id: 'text',
      request_id: 'text',
      since: 'text',
      until: 'text',
    }),
    component: lazyRouteComponent(() => import('./audit-log-screen.tsx'), 'AuditLogScreen'),
  }),
] as const;
