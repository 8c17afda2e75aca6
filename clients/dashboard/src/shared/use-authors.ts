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
function usePeopleNames(): UseQueryResult<Schemas['Person'][], unknown> {
  return useQuery({
    queryKey: ['people', 'names'],
    queryFn: ({ signal }) => gateway.people.list({ limit: 100 }, { signal }).toArray({ limit: known }),
    staleTime: 60_000,
    enabled: useScope('people:manage'),
  });
}

/**
 * What a page calls a caller: as it is called now, or for somebody who may not read that, as the invocation log has it.
 * @returns undefined if that is not known
 */
export function useCaller(id: string | undefined): Pick<Schemas['Author'], 'type' | 'name'> | undefined {
  const person = usePeopleNames().data?.find((one) => one.id === id);
  const key = useKeyNames().data?.find((one) => one.id === id);
  const isListed = person !== undefined || key !== undefined;
  const { data } = useQuery({
    queryKey: ['callers', id],
    queryFn: ({ signal }) => gateway.invocations.list({ author_id: id ?? '', limit: 1 }, { signal }),
    staleTime: 60_000,
    enabled: useScope('invocations:read') && id !== undefined && !isListed,
  });
  if (person !== undefined) return { type: 'person', name: person.name };
  return key === undefined ? data?.data[0]?.author : { type: 'key', name: key.name };
}

/** What a page calls an author. The service itself has a name in each language. */
export function useAuthorName(): (author: Schemas['Author']) => string {
  const { theService } = useTexts().shared;
  return ({ type, id, name }) => (type === 'system' && id === 'service' ? theService : name);
}

/**
 * Who can be filtered for: people, then API keys, as far as the caller may see them. A person is told from others of the
 * same name by the e-mail address.
 * @param isWanted which of the keys
 * @returns undefined for a caller that may see neither
 */
export function useAuthors(
  isWanted: (key: Schemas['ApiKey']) => boolean = () => true,
): { value: string; label: string }[] | undefined {
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
    ...(keys.data ?? []).filter(isWanted).map(({ id, name }) => ({ value: id, label: name })),
  ];
}
