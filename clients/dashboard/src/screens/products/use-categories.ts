import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { gateway } from '../../app/gateway.ts';
import { categoriesKey } from './queries.ts';

/** Categories that are known by name. */
const known = 1_000;

/** Reads the categories of a location, or of all without one; also the archived ones. */
export function useCategories(locationId: string | undefined): UseQueryResult<Schemas['Category'][]> {
  return useQuery({
    queryKey: [...categoriesKey, 'all', locationId],
    queryFn: ({ signal }) =>
      gateway.categories
        .list(
          { archived: 'include', limit: 100, ...(locationId !== undefined && { location_id: locationId }) },
          { signal },
        )
        .toArray({ limit: known }),
    staleTime: 30_000,
  });
}

/** Categories to choose from: without the archived ones, but with the chosen one. */
export function categoryOptions(
  categories: readonly Schemas['Category'][] = [],
  chosen = '',
): { value: string; label: string }[] {
  const options = categories
    .filter(({ id, archived }) => !archived || id === chosen)
    .map(({ id, name }) => ({ value: id, label: name }));
  const isKnown = chosen === '' || options.some(({ value }) => value === chosen);
  return isKnown ? options : [...options, { value: chosen, label: chosen }];
}
