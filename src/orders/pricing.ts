import type { ValueOf } from '../base/fields/kinds.ts';
import type { taxLine } from './tax-line.ts';

/** What the price of a line of an order depends on. Money is an integer in minor units of the currency. */
export interface PricedLine {
  readonly quantity: number;
  readonly unitPrice: number;
  /** In parts per million: 88,750 is 8.875 %. */
  readonly taxRatePpm: number;
  readonly modifiers: readonly { readonly price: number; readonly quantity: number }[];
}

/** How a location charges for an order. */
export interface Charges {
  /** In parts per million of the subtotal. */
  readonly feeRate: number;
  /** Whether the prices contain the tax. Otherwise it is added. */
  readonly pricesIncludeTax: boolean;
}

export type TaxLine = ValueOf<typeof taxLine>;

export interface OrderTotals {
  /** The total of each line, in the order of the lines. */
  readonly lines: readonly number[];
  readonly subtotal: number;
  /** For each rate of the lines, the lowest first. */
  readonly taxLines: readonly TaxLine[];
  readonly taxes: number;
  readonly fees: number;
  readonly total: number;
}

const million = 1_000_000n;

/**
 * Prices an order: the sum of `quantity × (unit price + Σ modifier price × modifier quantity)`, plus the taxes, unless the
 * prices include them, plus the fee. The tax of each rate is of the sum of the lines with this rate; the fee is of the
 * whole sum. Each is rounded half-up once. There is no tax on the fee and no fee on the tax.
 *
 * @param largest the largest total that an order may have, at most 2^53 - 1
 * @returns `undefined` when the total would be larger
 */
export function priceOrder(
  lines: readonly PricedLine[],
  { feeRate, pricesIncludeTax }: Charges,
  largest: number,
): OrderTotals | undefined {
  // The sum of two hundred lines with the largest quantities and prices is larger than a double can represent exactly.
  const lineTotals = lines.map(lineTotal);
  const subtotal = lineTotals.reduce((sum, line) => sum + line, 0n);
  const taxLines = taxByRate(lines, lineTotals, pricesIncludeTax);
  const taxes = taxLines.reduce((sum, { amount }) => sum + amount, 0n);
  const fees = share(subtotal, feeRate);
  const total = subtotal + (pricesIncludeTax ? 0n : taxes) + fees;
  if (total > BigInt(largest)) return undefined;
  return {
    lines: lineTotals.map(Number),
    subtotal: Number(subtotal),
    taxLines: taxLines.map(({ ratePpm, base, amount }) => ({ ratePpm, base: Number(base), amount: Number(amount) })),
    taxes: Number(taxes),
    fees: Number(fees),
    total: Number(total),
  };
}

function lineTotal({ quantity, unitPrice, modifiers }: PricedLine): bigint {
  const unit = modifiers.reduce(
    (sum, modifier) => sum + BigInt(modifier.price) * BigInt(modifier.quantity),
    BigInt(unitPrice),
  );
  return BigInt(quantity) * unit;
}

function taxByRate(
  lines: readonly PricedLine[],
  lineTotals: readonly bigint[],
  pricesIncludeTax: boolean,
): { ratePpm: number; base: bigint; amount: bigint }[] {
  const sums = new Map<number, bigint>();
  for (const [index, { taxRatePpm }] of lines.entries()) {
    sums.set(taxRatePpm, (sums.get(taxRatePpm) ?? 0n) + (lineTotals[index] ?? 0n));
  }
  return [...sums]
    .sort(([one], [other]) => one - other)
    .map(([ratePpm, sum]) => {
      const amount = pricesIncludeTax ? shareWithin(sum, ratePpm) : share(sum, ratePpm);
      return { ratePpm, base: pricesIncludeTax ? sum - amount : sum, amount };
    });
}

/** A rate's share of an amount, rounded half-up. */
function share(amount: bigint, rate: number): bigint {
  return (amount * BigInt(rate) + million / 2n) / million;
}

/** The part of an amount that is a rate's share of the rest, rounded half-up. */
function shareWithin(amount: bigint, rate: number): bigint {
  const whole = million + BigInt(rate);
  return (2n * amount * BigInt(rate) + whole) / (2n * whole);
}
