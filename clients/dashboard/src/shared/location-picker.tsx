import { MultiSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { gateway } from '../app/gateway.ts';
import { useScope } from '../app/session-context.ts';
import { locationIdsInput } from '../generated/limits.ts';

/** Locations that are offered by name. Others stay selected under their id. */
const offered = 500;

/** Chooses some locations, or none for all. A key that may not read locations sees their ids. */
export function LocationPicker({
  texts,
  value = [],
  onChange,
  error,
}: {
  texts: { readonly locations: string; readonly locationsDescription: string; readonly allLocations: string };
  value?: string[];
  onChange: (value: string[]) => void;
  error?: ReactNode;
}): ReactNode {
  const canRead = useScope('catalog:read');
  const locations = useQuery({
    queryKey: ['locations', 'names'],
    queryFn: ({ signal }) => gateway.locations.list({ limit: 100 }, { signal }).toArray({ limit: offered }),
    enabled: canRead,
  });
  const known = locations.data ?? [];
  const ids = new Set(known.map(({ id }) => id));
  const data = [
    ...known.map(({ id, name }) => ({ value: id, label: name })),
    ...value.filter((id) => !ids.has(id)).map((id) => ({ value: id, label: id })),
  ];
  if (data.length === 0) return null;
  return (
    <MultiSelect
      label={texts.locations}
      description={texts.locationsDescription}
      placeholder={value.length === 0 ? texts.allLocations : undefined}
      data={data}
      value={value}
      onChange={onChange}
      maxValues={locationIdsInput.maxItems}
      searchable
      clearable
      error={error}
    />
  );
}
