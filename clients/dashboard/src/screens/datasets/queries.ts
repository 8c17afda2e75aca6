import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { NotFoundError, type Schemas } from 'prompt-gateway-client';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { useList, type ListState } from '../../shared/use-list.ts';
import { versioned, type Versioned } from '../../shared/versioned.ts';

/** Keys of what these screens read. */
export const datasetKeys = {
  all: ['datasets'] as const,
  list: ['datasets', 'list'] as const,
  names: ['datasets', 'names'] as const,
  dataset: (name: string) => ['datasets', 'of', name] as const,
  versions: (name: string) => ['datasets', 'of', name, 'versions'] as const,
  cases: (id: string, version: number) => ['datasets', 'cases', id, version] as const,
};

/** All data sets, by name. */
export function useDatasets(): ListState<Schemas['Dataset']> {
  return useList({
    queryKey: datasetKeys.list,
    load: (position, options) => gateway.datasets.list(position, options),
    idOf: ({ name }) => name,
    limit: 100,
  });
}

/** The most data sets that a service has. */
const mostDatasets = 1_000;

/** All data sets, to choose one of them; undefined while they are read, and for a key that may not read them. */
export function useDatasetChoice(): UseQueryResult<Schemas['Dataset'][]> {
  const canRead = useScope('datasets:read');
  return useQuery({
    queryKey: datasetKeys.names,
    queryFn: ({ signal }) => gateway.datasets.list({ limit: 100 }, { signal }).toArray({ limit: mostDatasets }),
    enabled: canRead,
  });
}

/** A data set with its `ETag`; `null` if no data set has this name. Nothing is read without a name. */
export function useDataset(name: string): UseQueryResult<Versioned<Schemas['Dataset']> | null> {
  return useQuery({
    queryKey: datasetKeys.dataset(name),
    queryFn: async ({ signal }) => {
      try {
        return await versioned(gateway.datasets.get(name, { signal }));
      } catch (error) {
        if (error instanceof NotFoundError) return null;
        throw error;
      }
    },
    enabled: name !== '',
  });
}

/** The versions of a data set that are kept, the newest first. */
export function useDatasetVersions(name: string): ListState<Schemas['DatasetVersionPage']['data'][number]> {
  return useList({
    queryKey: datasetKeys.versions(name),
    load: (position, options) => gateway.datasets.listVersions(name, position, options),
    idOf: ({ version }) => String(version),
    limit: 20,
  });
}

/** The cases of a version, in their order. Only an erasure changes them. */
export function useCases({ id, name }: Schemas['Dataset'], version: number): ListState<Schemas['DatasetCase']> {
  return useList({
    queryKey: datasetKeys.cases(id, version),
    load: (position, options) => gateway.datasets.listCases(name, version, position, options),
    idOf: (one) => one.id,
  });
}
