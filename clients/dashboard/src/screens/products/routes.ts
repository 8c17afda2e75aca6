import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { searchOf } from '../../shared/search.ts';

/** Products and categories: the lists and the forms. */
export const productsRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/products',
    validateSearch: searchOf({ location_id: 'text', category_id: 'text', archived: ['include', 'only'] }),
    component: lazyRouteComponent(() => import('./products-screen.tsx'), 'ProductsScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/products/new',
    validateSearch: searchOf({ location_id: 'text', category_id: 'text' }),
    component: lazyRouteComponent(() => import('./new-product-screen.tsx'), 'NewProductScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/products/$id',
    component: lazyRouteComponent(() => import('./product-screen.tsx'), 'ProductScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/categories',
    validateSearch: searchOf({ location_id: 'text', archived: ['include', 'only'] }),
    component: lazyRouteComponent(() => import('./categories-screen.tsx'), 'CategoriesScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/categories/new',
    validateSearch: searchOf({ location_id: 'text' }),
    component: lazyRouteComponent(() => import('./new-category-screen.tsx'), 'NewCategoryScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/categories/$id',
    component: lazyRouteComponent(() => import('./category-screen.tsx'), 'CategoryScreen'),
  }),
] as const;
