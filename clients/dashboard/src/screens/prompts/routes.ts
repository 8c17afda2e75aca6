import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readAhead } from '../../app/read-ahead.ts';
import { rootRoute } from '../../app/root-route.tsx';
import { searchOf } from '../../shared/search.ts';
import { promptQuery } from './prompt-queries.ts';

/** One prompt; its tabs are the routes within. */
const promptRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/prompts/$promptId',
  beforeLoad: ({ cause, params }) => {
    readAhead(cause, ({ queryClient }) => {
      void queryClient.prefetchQuery(promptQuery(params.promptId));
    });
  },
  component: lazyRouteComponent(() => import('./workspace/prompt-screen.tsx'), 'PromptScreen'),
});

/** The list of prompts, the form of a new one, and the screens of each. */
export const promptsRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/prompts',
    validateSearch: searchOf({ q: 'text' }),
    component: lazyRouteComponent(() => import('./list/prompt-list-screen.tsx'), 'PromptListScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/prompts/new',
    validateSearch: searchOf({ from: 'text' }),
    component: lazyRouteComponent(() => import('./editor/new-prompt-screen.tsx'), 'NewPromptScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/prompts/import',
    component: lazyRouteComponent(() => import('./transfer/import-screen.tsx'), 'ImportScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/evaluations/$evaluationId',
    component: lazyRouteComponent(() => import('./evaluations/evaluation-redirect.tsx'), 'EvaluationRedirect'),
  }),
  promptRoute.addChildren([
    createRoute({
      getParentRoute: () => promptRoute,
      path: '/',
      component: lazyRouteComponent(() => import('./editor/prompt-editor-screen.tsx'), 'PromptEditorScreen'),
    }),
    createRoute({
      getParentRoute: () => promptRoute,
      path: '/playground',
      // What an invocation had, which is opened here.
      validateSearch: searchOf({ version: 'text', provider: 'text', model: 'text', invocation: 'text' }),
      component: lazyRouteComponent(() => import('./playground/playground-screen.tsx'), 'PlaygroundScreen'),
    }),
    createRoute({
      getParentRoute: () => promptRoute,
      path: '/test-runs',
      component: lazyRouteComponent(() => import('./test-runs/test-runs-screen.tsx'), 'TestRunsScreen'),
    }),
    createRoute({
      getParentRoute: () => promptRoute,
      path: '/test-runs/$runId',
      component: lazyRouteComponent(() => import('./test-runs/test-run-screen.tsx'), 'TestRunScreen'),
    }),
    createRoute({
      getParentRoute: () => promptRoute,
      path: '/evaluations',
      component: lazyRouteComponent(() => import('./evaluations/evaluations-screen.tsx'), 'EvaluationsScreen'),
    }),
    createRoute({
      getParentRoute: () => promptRoute,
      path: '/evaluations/new',
      // An evaluation whose choices are taken over.
      validateSearch: searchOf({ from: 'text' }),
      component: lazyRouteComponent(() => import('./evaluations/new-evaluation-screen.tsx'), 'NewEvaluationScreen'),
    }),
    createRoute({
      getParentRoute: () => promptRoute,
      path: '/evaluations/$evaluationId',
      validateSearch: searchOf({ outcome: ['all', 'regressed', 'improved', 'same', 'passed', 'failed', 'error'] }),
      component: lazyRouteComponent(() => import('./evaluations/evaluation-screen.tsx'), 'EvaluationScreen'),
    }),
    createRoute({
      getParentRoute: () => promptRoute,
      path: '/evaluations/$evaluationId/marks',
      component: lazyRouteComponent(() => import('./evaluations/marks-screen.tsx'), 'MarksScreen'),
    }),
    createRoute({
      getParentRoute: () => promptRoute,
      path: '/history',
      validateSearch: searchOf({ before: 'text', after: 'text' }),
      component: lazyRouteComponent(() => import('./history/history-screen.tsx'), 'HistoryScreen'),
    }),
    createRoute({
      getParentRoute: () => promptRoute,
      path: '/statistics',
      validateSearch: searchOf({ span: ['hour', 'day'] }),
      component: lazyRouteComponent(() => import('./statistics/statistics-screen.tsx'), 'PromptStatisticsScreen'),
    }),
  ]),
] as const;
