import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { searchOf } from '../../shared/search.ts';
import { groupings, spans } from './groupings.ts';

/** What invocations cost, by day and by everything else; budgets and prices. */
export const costsRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/costs',
    validateSearch: searchOf({ by: groupings, days: spans, prompt: 'text', key_id: 'text', tag: 'text' }),
    component: lazyRouteComponent(() => import('./costs-screen.tsx'), 'CostsScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/costs/budgets/new',
    component: lazyRouteComponent(() => import('./budgets/new-budget-screen.tsx'), 'NewBudgetScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/costs/budgets/$name',
    component: lazyRouteComponent(() => import('./budgets/edit-budget-screen.tsx'), 'EditBudgetScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/costs/price',
    validateSearch: searchOf({ provider: 'text', model: 'text' }),
    component: lazyRouteComponent(() => import('./prices/price-screen.tsx'), 'PriceScreen'),
  }),
] as const;
