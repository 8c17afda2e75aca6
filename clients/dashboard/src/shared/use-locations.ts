import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { gateway } from '../app/gateway.ts';
import { useScope } from '../app/session-context.ts';

/** Locations that are known by name. Others are shown by their id. */
const known = 500;

/** What the screens know of all locations, also the archived ones. Nothing is read without the scope `catalog:read`. */
export interface Locations {
  query: UseQueryResult<Schemas['Location'][]>;
  /** The name, or the id until it is known. */
  nameOf: (id: string) => string;
  find: (id: string | undefined) => Schemas['Location'] | undefined;
  /** Locations to choose from: without the archived ones, but with the chosen one. */
  options: (chosen?: string) => { value: string; label: string }[];
}

/** Reads all locations, for names and choices. */
export function useLocations(): Locations {
  const canRead = useScope('catalog:read');
  const query = useQuery({
    queryKey: ['locations', 'all'],
    queryFn: ({ signal }) =>
      gateway.locations.list({ archived: 'include', limit: 100 }, { signal }).toArray({ limit: known }),
    enabled: canRead,
    staleTime: 30_000,
  });
  const find = (id: string | undefined): Schemas['Location'] | undefined => query.data?.find((one) => one.id === id);
  return {
    query,
    find,
    nameOf: (id) => find(id)?.name ?? id,
    options: (chosen) => {
      const shown = (query.data ?? []).filter(({ id, archived }) => !archived || id === chosen);
      const options = shown.map(({ id, name }) => ({ value: id, label: name }));
      const isKnown = chosen === undefined || chosen === '' || options.some(({ value }) => value === chosen);
      return isKnown ? options : [...options, { value: chosen, label: chosen }];
    },
  };
}
