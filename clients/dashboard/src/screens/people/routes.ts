import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';

/** The list of people, and one of them. */
export const peopleRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/people',
    component: lazyRouteComponent(() => import('./people-screen.tsx'), 'PeopleScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/people/$id',
    component: lazyRouteComponent(() => import('./person-screen.tsx'), 'PersonScreen'),
  }),
] as const;
