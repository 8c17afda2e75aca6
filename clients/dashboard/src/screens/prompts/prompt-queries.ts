import { queryOptions, useQueries, useQuery, type FetchQueryOptions, type UseQueryResult } from '@tanstack/react-query';
import { NotFoundError, type Schemas } from 'prompt-gateway-client';
import { gateway } from '../../app/gateway.ts';
import { every, liveStatistics } from '../../app/query-client.ts';
import { useScope } from '../../app/session-context.ts';
import { useList, type ListState } from '../../shared/use-list.ts';
import { versioned, type Versioned } from '../../shared/versioned.ts';

/** A prompt together with the `ETag` of this state. */
export type StoredPrompt = Versioned<Schemas['Prompt']>;

/** The creation, a move or a deletion of a label. */
export type LabelMove = Schemas['LabelMovePage']['data'][number];

/** Keys of what these screens read. */
export const promptKeys = {
  lists: ['prompts', 'list'] as const,
  list: (q: string) => ['prompts', 'list', q] as const,
  deletion: (id: string) => ['prompts', 'of', id, 'deletion'] as const,
  prompt: (id: string) => ['prompts', 'of', id, 'prompt'] as const,
  versions: (id: string) => ['prompts', 'of', id, 'versions'] as const,
  version: (id: string, version: number) => ['prompts', 'of', id, 'version', version] as const,
  labels: (id: string) => ['prompts', 'of', id, 'labels'] as const,
  label: (id: string, name: string) => ['prompts', 'of', id, 'labels', name] as const,
  labelMoves: (id: string, name: string) => ['prompts', 'of', id, 'labels', name, 'moves'] as const,
  testRuns: (id: string) => ['prompts', 'of', id, 'test-runs'] as const,
  testRun: (runId: string) => ['test-runs', runId] as const,
  testResults: (runId: string) => ['test-runs', runId, 'results'] as const,
  statistics: (id: string, span: string) => ['prompts', 'of', id, 'statistics', span] as const,
};

/** The prompts whose name, slug or description contains `q`; all without `q`. */
export function usePromptList(q: string): ListState<Schemas['Prompt']> {
  return useList({
    queryKey: promptKeys.list(q),
    load: (position, options) => gateway.prompts.list({ ...position, ...(q !== '' && { q }) }, options),
    idOf: ({ id }) => id,
    limit: 100,
  });
}

/** What calls of the last day cost, by prompt; undefined for a key that may not see it. */
export function usePromptUsage(): Schemas['Costs'] | undefined {
  const isAllowed = useScope('invocations:read');
  const { data } = useQuery({
    queryKey: ['prompts', 'usage'],
    queryFn: ({ signal }) => {
      const since = new Date(Date.now() - 86_400_000).toISOString();
      return gateway.costs.get({ by: 'prompt', since }, { signal });
    },
    enabled: isAllowed,
    staleTime: 60_000,
  });
  return isAllowed ? data : undefined;
}

/** One prompt by id or slug. */
export function usePrompt(id: string, isEnabled = true): UseQueryResult<StoredPrompt> {
  return useQuery({ ...promptQuery(id), enabled: isEnabled });
}

export function promptQuery(id: string): FetchQueryOptions<StoredPrompt> {
  return {
    queryKey: promptKeys.prompt(id),
    queryFn: ({ signal }) => versioned(gateway.prompts.get(id, { signal })),
  };
}

/** The versions of a prompt, the newest first. */
export function useVersions(id: string): ListState<Schemas['PromptVersion']> {
  return useList({
    queryKey: promptKeys.versions(id),
    load: (position, options) => gateway.promptVersions.list(id, position, options),
    idOf: ({ version }) => String(version),
    limit: 20,
  });
}

/** One version, which never changes. Without a number nothing is read. */
export function useVersion(id: string, version: number | undefined): UseQueryResult<Schemas['PromptVersion']> {
  return useQuery({ ...versionQuery(id, version ?? 0), enabled: version !== undefined });
}

/** Several versions. @param versions each of them once */
export function useEachVersion(id: string, versions: readonly number[]): UseQueryResult<Schemas['PromptVersion']>[] {
  return useQueries({ queries: versions.map((version) => versionQuery(id, version)) });
}

function versionQuery(id: string, version: number) {
  return queryOptions({
    queryKey: promptKeys.version(id, version),
    queryFn: ({ signal }) => gateway.promptVersions.get(id, version, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The labels of a prompt, by name. It has at most 20. */
export function useLabels(id: string): UseQueryResult<Schemas['Label'][]> {
  return useQuery({
    queryKey: promptKeys.labels(id),
    queryFn: async ({ signal }) => (await gateway.labels.list(id, { limit: 100 }, { signal })).data,
  });
}

/** A label as it is now; `undefined` if there is none of this name. */
export async function readLabel(
  id: string,
  name: string,
  options: { signal?: AbortSignal } = {},
): Promise<Versioned<Schemas['Label']> | undefined> {
  try {
    return await versioned(gateway.labels.get(id, name, options));
  } catch (error) {
    if (error instanceof NotFoundError && error.type === 'urn:prompt-gateway:problem:label-not-found') return undefined;
    throw error;
  }
}

/** The moves of a label, the latest first. */
export function useLabelMoves(id: string, name: string): ListState<LabelMove> {
  return useList({
    queryKey: promptKeys.labelMoves(id, name),
    load: (position, options) => gateway.labels.listMoves(id, name, position, options),
    idOf: ({ sequence }) => String(sequence),
    limit: 20,
  });
}

/** All providers that the service knows. */
export function useProviders(): UseQueryResult<Schemas['Provider'][]> {
  return useQuery({
    queryKey: ['providers'],
    queryFn: ({ signal }) => gateway.providers.list({ signal }),
    staleTime: 60_000,
  });
}

/** The test runs of a prompt, the newest first; read again every two seconds while the page is visible. */
export function useTestRuns(id: string): ListState<Schemas['TestRun']> {
  return useList({
    queryKey: promptKeys.testRuns(id),
    load: (position, options) => gateway.testRuns.list(id, position, options),
    idOf: (run) => run.id,
    isLive: true,
    limit: 20,
  });
}

/** The end of a test run is shown at once to those who wait for it. */
const whileRunning = every(500, 10_000);

/** One test run, again every half second while it is running. */
export function useTestRun(runId: string): UseQueryResult<Schemas['TestRun']> {
  return useQuery({
    queryKey: promptKeys.testRun(runId),
    queryFn: ({ signal }) => gateway.testRuns.get(runId, { signal }),
    refetchInterval: (query) => query.state.data?.status === 'running' && whileRunning.refetchInterval(query),
  });
}

/** The results of a test run that is `done`, which never change. */
export function useTestResults(runId: string, isDone: boolean): UseQueryResult<Schemas['TestRunResults']> {
  return useQuery({
    queryKey: promptKeys.testResults(runId),
    queryFn: ({ signal }) => gateway.testRuns.getResults(runId, { signal }),
    enabled: isDone,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Statistics of a prompt over the last hour or day; read again every ten seconds. */
export function usePromptStatistics(
  id: string,
  span: 'hour' | 'day',
): UseQueryResult<Awaited<ReturnType<typeof gateway.prompts.getStatistics>>, unknown> {
  return useQuery({
    queryKey: promptKeys.statistics(id, span),
    queryFn: ({ signal }) => gateway.prompts.getStatistics(id, { span }, { signal }),
    ...liveStatistics,
  });
}
