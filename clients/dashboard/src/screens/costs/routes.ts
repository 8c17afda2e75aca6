import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { searchOf } from '../../shared/search.ts';

/** What the members of the table stand for. */
export const groupings = ['model', 'prompt', 'version', 'key', 'tag'] as const;
/** Days back from today. */
export const spans = ['7', '30', '90', '365'] as const;

/** What invocations cost, by day and by everything else. */
export const costsRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/costs',
    validateSearch: searchOf({ by: groupings, days: spans, prompt: 'text', key_id: 'text', tag: 'text' }),
    component: lazyRouteComponent(() => import('./costs-screen.tsx'), 'CostsScreen'),
  }),
] as const;
