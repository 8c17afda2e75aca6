import { customHeadersInput, reservedHeaders } from '../../generated/limits.ts';
import { fits } from '../../shared/limits.ts';

/** A custom header as it is typed. */
export interface HeaderRow {
  name: string;
  value: string;
}

/** A rule that a header breaks: a key of the texts `integrations.headers.rules`. */
export type HeaderRule =
  | 'nameMissing'
  | 'notToken'
  | 'nameTooLong'
  | 'reserved'
  | 'repeated'
  | 'valueMissing'
  | 'notVisible'
  | 'valueTooLong';

const { names, values } = customHeadersInput;

/** The rule that the name breaks. */
export function nameRule({ name }: HeaderRow, others: readonly HeaderRow[]): HeaderRule | undefined {
  const lowerCase = name.toLowerCase();
  if (name === '') return 'nameMissing';
  if (name.length > names.maxLength) return 'nameTooLong';
  if (!fits(name, names)) return 'notToken';
  if (fits(lowerCase, reservedHeaders)) return 'reserved';
  return others.some((other) => other.name.toLowerCase() === lowerCase) ? 'repeated' : undefined;
}

/** The rule that the value breaks. */
export function valueRule({ value }: HeaderRow): HeaderRule | undefined {
  if (value === '') return 'valueMissing';
  if (value.length > values.maxLength) return 'valueTooLong';
  return fits(value, values) ? undefined : 'notVisible';
}
