import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { searchOf } from '../../shared/search.ts';
import { groupings, spans } from './groupings.ts';

/** What invocations cost, by day and by everything else. */
export const costsRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/costs',
    validateSearch: searchOf({ by: groupings, days: spans, prompt: 'text', key_id: 'text', tag: 'text' }),
    component: lazyRouteComponent(() => import('./costs-screen.tsx'), 'CostsScreen'),
  }),
] as const;
