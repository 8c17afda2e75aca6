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

/**
 * The most that a call counts with: a billion dollars, so that the costs of the calls of a record fit into an int64. The
 * most tokens that a request can ask for, at the highest price that can be set, cost less.
 */
export const mostOfCall: NanoDollars = 1_000_000_000_000_000_000n;

/**
 * The most that a period of a budget counts, in nano-dollars: several times the highest limit. With that limit added to
 * it, it is still exact as a number.
 */
export const mostOfBudget = 8_000_000_000_000_000;

/** An amount in the database: an int64, which the driver reads as a number if that is exact, or digits. */
export type StoredMoney = NanoDollars | number | string | { toBigInt(): bigint };

export function fromStored(stored: StoredMoney): NanoDollars {
  return typeof stored === 'object' ? stored.toBigInt() : BigInt(stored);
}

/** An amount for JSON: a number if that is exact, else digits. */
export function toPlain(amount: NanoDollars): number | string {
  return amount <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(amount) : amount.toString();
}

/** The sum of any number of costs for the database: an int64, or digits if it is larger. */
export function toStoredSum(amount: NanoDollars): NanoDollars | string {
  return BigInt.asIntN(64, amount) === amount ? amount : amount.toString();
}

/** What a budget counts of a cost, in nano-dollars. */
export function inBudget(cost: StoredMoney): number {
  return Math.min(Number(fromStored(cost)), mostOfBudget);
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
