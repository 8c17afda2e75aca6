import { useQuery } from '@tanstack/react-query';
import { gateway } from '../app/gateway.ts';
import { useScope } from '../app/session-context.ts';

/** People and keys that filters offer, of each. Others are found by their id. */
const offered = 500;

/**
 * Who can be filtered for: people, then API keys, as far as the caller may see them. A person is told from others of the
 * same name by the e-mail address.
 * @returns undefined for a caller that may see neither
 */
export function useAuthors(): { value: string; label: string }[] | undefined {
  const canReadPeople = useScope('people:manage');
  const canReadKeys = useScope('keys:manage');
  const people = useQuery({
    queryKey: ['people', 'names'],
    queryFn: ({ signal }) => gateway.people.list({ limit: 100 }, { signal }).toArray({ limit: offered }),
    staleTime: 60_000,
    enabled: canReadPeople,
  });
  const keys = useQuery({
    queryKey: ['api-keys', 'names'],
    queryFn: ({ signal }) => gateway.apiKeys.list({ limit: 100 }, { signal }).toArray({ limit: offered }),
    staleTime: 60_000,
    enabled: canReadKeys,
  });
  if (!canReadPeople && !canReadKeys) return undefined;
  return [
    ...(people.data ?? []).map(({ id, name, email }) => ({
      value: id,
      label: email === undefined || email === name ? name : `${name} (${email})`,
    })),
    ...(keys.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
  ];
}
