import { Button, CloseButton, Group, NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTexts } from './texts.tsx';

/** The filters of a list, which stand in the address. */
export interface Filters<Search extends object> {
  values: Search;
  /** Sets a filter, or removes it with `undefined`. */
  set: (name: keyof Search & string, value: string | undefined) => void;
  clear: () => void;
  isActive: boolean;
}

/** Binds filters to the address: `useFilters(route.useSearch())`. */
export function useFilters<Search extends object>(values: Search): Filters<Search> {
  const navigate = useNavigate();
  const go = (search: object): void => {
    void navigate({ to: '.', search: search as never, replace: true, resetScroll: false });
  };
  return {
    values,
    set: (name, value) => {
      const { [name]: _, ...others } = values as Record<string, unknown>;
      go(value === undefined || value === '' ? others : { ...others, [name]: value });
    },
    clear: () => {
      go({});
    },
    isActive: Object.keys(values).length > 0,
  };
}

/** The filters above a list, with a button that clears them. */
export function FilterBar<Search extends object>({
  filters,
  children,
}: {
  filters: Filters<Search>;
  children: ReactNode;
}): ReactNode {
  const { shared } = useTexts();
  return (
    <Group gap="xs" align="flex-end" role="search" aria-label={shared.filters.label}>
      {children}
      {filters.isActive && (
        <Button variant="subtle" color="gray" size="compact-sm" mb={4} onClick={filters.clear}>
          {shared.filters.clear}
        </Button>
      )}
    </Group>
  );
}

interface FilterProps<Search extends object> {
  filters: Filters<Search>;
  name: keyof Search & string;
  label: string;
}

/** A filter with a few values. */
export function SelectFilter<Search extends object>({
  filters,
  name,
  label,
  options,
}: FilterProps<Search> & { options: readonly { value: string; label: string }[] }): ReactNode {
  const { shared } = useTexts();
  return (
    <NativeSelect
      size="xs"
      label={label}
      data={[{ value: '', label: shared.filters.any }, ...options]}
      value={(filters.values[name] as string | undefined) ?? ''}
      onChange={(event) => {
        filters.set(name, event.currentTarget.value);
      }}
    />
  );
}

/** Options of a `SelectFilter`. The chosen value stays one, also when the list does not have it. */
export function withChosen(
  options: { value: string; label: string }[] = [],
  chosen: string | undefined,
): { value: string; label: string }[] {
  const isKnown = chosen === undefined || options.some(({ value }) => value === chosen);
  return isKnown ? options : [...options, { value: chosen, label: chosen }];
}

/** A filter with any text. It applies when the typing pauses. */
export function SearchFilter<Search extends object>({
  filters,
  name,
  label,
  placeholder,
}: FilterProps<Search> & { placeholder?: string }): ReactNode {
  const { shared } = useTexts();
  const applied = (filters.values[name] as string | undefined) ?? '';
  const [typed, setTyped] = useState({ text: applied, applied });
  const apply = useDebouncedCallback((text: string) => {
    filters.set(name, text.trim());
  }, 300);
  // Cleared or changed elsewhere, such as by “Back”.
  if (typed.applied !== applied) setTyped({ text: typed.text.trim() === applied ? typed.text : applied, applied });
  return (
    <TextInput
      size="xs"
      w={{ base: '100%', sm: 260 }}
      label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={14} aria-hidden />}
      rightSection={
        typed.text !== '' && (
          <CloseButton
            size="xs"
            aria-label={shared.filters.clearSearch}
            onClick={() => {
              setTyped({ text: '', applied });
              filters.set(name, undefined);
            }}
          />
        )
      }
      value={typed.text}
      onChange={(event) => {
        setTyped({ text: event.currentTarget.value, applied });
        apply(event.currentTarget.value);
      }}
    />
  );
}

/** A span of time, in the time zone of the browser. In the address it stands in UTC (ISO 8601). */
export function DateRangeFilter<Search extends object>({
  filters,
  since,
  until,
}: {
  filters: Filters<Search>;
  since: keyof Search & string;
  until: keyof Search & string;
}): ReactNode {
  const { shared } = useTexts();
  return [
    { name: since, label: shared.filters.from },
    { name: until, label: shared.filters.until },
  ].map(({ name, label }) => (
    <TextInput
      key={name}
      size="xs"
      type="datetime-local"
      label={label}
      value={toLocal((filters.values[name] as string | undefined) ?? '')}
      onChange={(event) => {
        filters.set(name, fromLocal(event.currentTarget.value));
      }}
    />
  ));
}

/** `2026-11-05T15:59` in the time zone of the browser, as `datetime-local` fields have it. */
export function toLocal(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The instant of a `datetime-local` field (ISO 8601, UTC); `undefined` if the field is empty. */
export function fromLocal(local: string): string | undefined {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
