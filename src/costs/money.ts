/** Billionths of a US dollar. Whole numbers, so that sums are exact. */
export type NanoDollars = bigint;

/** What a call of a provider cost. */
export interface CallCost {
  readonly amount: NanoDollars;
  /** `prefix` if the price is that of the model's family. */
  readonly match: 'exact' | 'prefix';
  /** `ceiling` if the provider did not say what the call used, so that the most counts that it can cost. */
  readonly basis: 'usage' | 'ceiling';
}

/** What an answer costs that needed no call. */
export const noCost: CallCost = { amount: 0n, match: 'exact', basis: 'usage' };

/** An amount in the database: an int64, which the driver reads as a number if that is exact. Earlier releases stored doubles. */
export type StoredMoney = NanoDollars | number | { toBigInt(): bigint };

export function fromStored(stored: StoredMoney): NanoDollars {
  return typeof stored === 'object' ? stored.toBigInt() : BigInt(stored);
}

/** The contract's representation of a cost: dollars as decimal digits, such as `0.000123`. */
export function showMoney(cost: NanoDollars): { amount: string; currency: 'USD' } {
  return { amount: decimal(cost, nanoDigits), currency: 'USD' };
}

/** @param amount as {@link showMoney} writes it */
export function fromAmount(amount: string): NanoDollars {
  return units(amount, nanoDigits);
}

/**
 * A rate in 10^-15 dollars a token: the smallest unit of prices with nine decimals for a million tokens.
 * @param amount dollars for a million tokens, as decimal digits with at most nine decimals
 */
export function toRate(amount: string): bigint {
  return units(amount, rateDigits);
}

/** Dollars for a million tokens, as decimal digits. */
export function fromRate(rate: bigint): string {
  return decimal(rate, rateDigits);
}

/** @param sum of numbers of tokens and their rates. A part of a nano-dollar counts as a whole one. */
export function roundUp(sum: bigint): NanoDollars {
  return (sum + unitsOfNano - 1n) / unitsOfNano;
}

const nanoDigits = 9;
/** Dollars for a million tokens are 10^9 units of a rate. */
const rateDigits = 9;
const unitsOfNano = 1_000_000n;

/** Decimal digits as a whole number of units of the last decimal. */
function units(text: string, digits: number): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(digits, '0'));
}

function decimal(value: bigint, digits: number): string {
  const text = value.toString().padStart(digits + 1, '0');
  const fraction = text.slice(-digits).replace(/0+$/, '');
  return fraction === '' ? text.slice(0, -digits) : `${text.slice(0, -digits)}.${fraction}`;
}
