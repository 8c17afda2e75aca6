import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { searchOf } from '../../shared/search.ts';

/** The list of data sets, the import of cases, and one data set. */
export const datasetsRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/datasets',
    component: lazyRouteComponent(() => import('./datasets-screen.tsx'), 'DatasetsScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    // Not below `/datasets`: a data set can have the name `import`.
    path: '/dataset-import',
    validateSearch: searchOf({ name: 'text' }),
    component: lazyRouteComponent(() => import('./import-cases-screen.tsx'), 'ImportCasesScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/datasets/$name',
    validateSearch: searchOf({ version: 'text' }),
    component: lazyRouteComponent(() => import('./dataset-screen.tsx'), 'DatasetScreen'),
  }),
] as const;
