import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { gateway } from '../app/gateway.ts';
import { useScope } from '../app/session-context.ts';
import { useTexts } from './texts.tsx';

/** People and keys that are known by name, of each. Others are shown, and found, by their id. */
const known = 500;

/** The API keys by name; none for a caller that may not read them. */
export function useKeyNames(): UseQueryResult<Schemas['ApiKey'][], unknown> {
  return useQuery({
    queryKey: ['api-keys', 'names'],
    queryFn: ({ signal }) => gateway.apiKeys.list({ limit: 100 }, { signal }).toArray({ limit: known }),
    staleTime: 60_000,
    enabled: useScope('keys:manage'),
  });
}

/** The people by name; none for a caller that may not read them. */
export function usePeopleNames(): UseQueryResult<Schemas['Person'][], unknown> {
  return useQuery({
    queryKey: ['people', 'names'],
    queryFn: ({ signal }) => gateway.people.list({ limit: 100 }, { signal }).toArray({ limit: known }),
    staleTime: 60_000,
    enabled: useScope('people:manage'),
  });
}

/** What a page calls an author. The service itself has a name in each language. */
export function useAuthorName(): (author: Schemas['Author']) => string {
  const { theService } = useTexts().shared;
  return ({ type, id, name }) => (type === 'system' && id === 'service' ? theService : name);
}

/**
 * Who can be filtered for: people, then API keys, as far as the caller may see them. A person is told from others of the
 * same name by the e-mail address.
 * @returns undefined for a caller that may see neither
 */
export function useAuthors(): { value: string; label: string }[] | undefined {
  const canReadPeople = useScope('people:manage');
  const canReadKeys = useScope('keys:manage');
  const people = usePeopleNames();
  const keys = useKeyNames();
  if (!canReadPeople && !canReadKeys) return undefined;
  return [
    ...(people.data ?? []).map(({ id, name, email }) => ({
      value: id,
      label: email === undefined || email === name ? name : `${name} (${email})`,
    })),
    ...(keys.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
  ];
}
