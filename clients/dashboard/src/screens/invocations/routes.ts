import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { searchOf } from '../../shared/search.ts';

/** The invocation log, and one invocation with its calls to providers. */
export const invocationsRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/invocations',
    validateSearch: searchOf({
      status: ['succeeded', 'failed', 'canceled', 'interrupted'],
      problem: 'text',
      attempt_provider: 'text',
      attempt_problem: 'text',
      attempt_model: 'text',
      attempt_status: ['succeeded', 'failed', 'canceled', 'interrupted'],
      attempt_cost: ['unknown'],
      cached: ['only', 'exclude'],
      refused_by: 'text',
      evaluation_id: 'text',
      canary_id: 'text',
      arm: ['stable', 'canary'],
      prompt: 'text',
      version: 'text',
      label: 'text',
      provider: 'text',
      model: 'text',
      author_id: 'text',
      tag: 'text',
      request_id: 'text',
      since: 'text',
      until: 'text',
    }),
    component: lazyRouteComponent(() => import('./invocations-screen.tsx'), 'InvocationsScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/invocations/$id',
    component: lazyRouteComponent(() => import('./invocation-screen.tsx'), 'InvocationScreen'),
  }),
] as const;
