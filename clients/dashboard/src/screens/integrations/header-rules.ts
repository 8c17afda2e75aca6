/** A custom header as it is typed. */
export interface HeaderRow {
  name: string;
  value: string;
}

/** A rule that a header breaks: a key of the texts `integrations.headers.rules`. */
export type HeaderRule =
  'nameMissing' | 'notToken' | 'nameTooLong' | 'reserved' | 'repeated' | 'valueMissing' | 'notVisible' | 'valueTooLong';

const reserved = new Set([
  'host',
  'connection',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);
const reservedPrefixes = ['content-', 'proxy-', 'x-service-', 'webhook-'];

/** The rule that the name breaks, as `CustomHeadersInput` of the contract has it. */
export function nameRule({ name }: HeaderRow, others: readonly HeaderRow[]): HeaderRule | undefined {
  const lowerCase = name.toLowerCase();
  if (name === '') return 'nameMissing';
  if (name.length > 100) return 'nameTooLong';
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return 'notToken';
  if (reserved.has(lowerCase) || reservedPrefixes.some((prefix) => lowerCase.startsWith(prefix))) return 'reserved';
  return others.some((other) => other.name.toLowerCase() === lowerCase) ? 'repeated' : undefined;
}

/** The rule that the value breaks. */
export function valueRule({ value }: HeaderRow): HeaderRule | undefined {
  if (value === '') return 'valueMissing';
  if (value.length > 1_000) return 'valueTooLong';
  return /^[!-~]([ -~]*[!-~])?$/.test(value) ? undefined : 'notVisible';
}
