import { Button, CloseButton, Group, NativeSelect, TextInput, UnstyledButton } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconPlus, IconSearch, IconX } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import classes from './filters.module.css';
import { useFormat, useTexts } from './texts.tsx';
import { useIsPhone } from './use-is-phone.ts';

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

/** An option of a filter with a few values. */
export interface FilterOption {
  value: string;
  label: string;
}

/** A filter: with `options`, also while they are loading, one of them; with `isTime` a time; else any text. */
export interface FilterField<Search extends object> {
  name: keyof Search & string;
  label: string;
  options?: readonly FilterOption[] | undefined;
  /** What it means that no option is chosen. */
  none?: string;
  isTime?: true;
  placeholder?: string;
}

/**
 * The filters above a list, with a button that clears them. On phones several filters are behind a button, and those
 * that are set are shown beside it.
 * @param fields `false` is left out
 * @param children what stands beside the filters
 */
export function FilterBar<Search extends object>({
  filters,
  fields: given,
  children,
}: {
  filters: Filters<Search>;
  fields: readonly (FilterField<NoInfer<Search>> | false)[];
  children?: ReactNode;
}): ReactNode {
  const { shared } = useTexts();
  const [isOpen, setOpen] = useState(false);
  const fields = given.filter((field) => field !== false);
  const isFolded = useIsPhone() && fields.length > 1;
  return (
    <Group gap="xs" align="flex-end" role="search" aria-label={shared.filters.label} className={classes.bar}>
      {isFolded && (
        <>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
            aria-expanded={isOpen}
            onClick={() => {
              setOpen(!isOpen);
            }}
          >
            {shared.filters.add}
          </Button>
          {fields.map((field) => (
            <SetFilter key={field.name} filters={filters} field={field} />
          ))}
        </>
      )}
      {(!isFolded || isOpen) && fields.map((field) => <Field key={field.name} filters={filters} field={field} />)}
      {filters.isActive && (
        <Button variant="subtle" color="gray" size="compact-sm" mb={{ sm: 4 }} onClick={filters.clear}>
          {shared.filters.clear}
        </Button>
      )}
      {children}
    </Group>
  );
}

interface FieldProps<Search extends object> {
  filters: Filters<Search>;
  field: FilterField<Search>;
}

function Field<Search extends object>(props: FieldProps<Search>): ReactNode {
  if ('options' in props.field) return <SelectField {...props} />;
  return props.field.isTime === true ? <TimeField {...props} /> : <TextField {...props} />;
}

/** What a filter is set to. A click removes it. */
function SetFilter<Search extends object>({ filters, field }: FieldProps<Search>): ReactNode {
  const { shared } = useTexts();
  const format = useFormat();
  const value = valueOf(filters, field);
  if (value === '') return null;
  const label = field.options?.find((option) => option.value === value)?.label ?? value;
  const text = `${field.label}: ${field.isTime === true ? format.moment(value) : label}`;
  return (
    <UnstyledButton
      className={classes.set}
      aria-label={shared.filters.remove(text)}
      onClick={() => {
        filters.set(field.name, undefined);
      }}
    >
      {text}
      <IconX size={14} stroke={1.75} aria-hidden />
    </UnstyledButton>
  );
}

/** The chosen value stays an option, also when the list does not have it. */
function SelectField<Search extends object>({ filters, field }: FieldProps<Search>): ReactNode {
  const { shared } = useTexts();
  const { name, label, options = [], none = shared.filters.any } = field;
  const value = valueOf(filters, field);
  const isKnown = value === '' || options.some((option) => option.value === value);
  return (
    <NativeSelect
      size="xs"
      maw={{ sm: 260 }}
      label={label}
      data={[{ value: '', label: none }, ...options, ...(isKnown ? [] : [{ value, label: value }])]}
      value={value}
      onChange={(event) => {
        filters.set(name, event.currentTarget.value);
      }}
    />
  );
}

/** It applies when the typing pauses. */
function TextField<Search extends object>({ filters, field }: FieldProps<Search>): ReactNode {
  const { shared } = useTexts();
  const { name, label, placeholder } = field;
  const applied = valueOf(filters, field);
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

/** A time in the time zone of the browser. In the address it stands in UTC (ISO 8601). */
function TimeField<Search extends object>({ filters, field }: FieldProps<Search>): ReactNode {
  return (
    <TextInput
      size="xs"
      type="datetime-local"
      label={field.label}
      value={toLocal(valueOf(filters, field))}
      onChange={(event) => {
        filters.set(field.name, fromLocal(event.currentTarget.value));
      }}
    />
  );
}

function valueOf<Search extends object>({ values }: Filters<Search>, { name }: FilterField<Search>): string {
  return (values[name] as string | undefined) ?? '';
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
