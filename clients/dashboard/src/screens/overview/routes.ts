import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readAhead } from '../../app/read-ahead.ts';
import { rootRoute } from '../../app/root-route.tsx';
import { reachesAll } from '../../app/session-context.ts';
import { searchOf } from '../../shared/search.ts';
import { providersQuery } from '../providers/queries.ts';
import { attentionQuery, failedDeliveriesQuery, statisticsQuery } from './queries.ts';

const search = searchOf({ span: ['hour', 'day'] });

/** What the service did in the last hour or day. */
export const overviewRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/overview',
    validateSearch: search,
    beforeLoad: ({ cause, search: { span = 'hour' } }) => {
      readAhead(cause, ({ queryClient, key }) => {
        for (const each of new Set([span, 'day' as const])) void queryClient.prefetchQuery(statisticsQuery(each));
        if (reachesAll(key)) void queryClient.prefetchQuery(attentionQuery);
        if (key.scopes.includes('integrations:read')) void queryClient.prefetchQuery(failedDeliveriesQuery);
        if (key.scopes.includes('prompts:read')) void queryClient.prefetchQuery(providersQuery);
      });
    },
    component: lazyRouteComponent(() => import('./overview-screen.tsx'), 'OverviewScreen'),
  }),
] as const;
