/** What the price of a line of an order depends on. Money is an integer in minor units of the currency. */
export interface PricedLine {
  readonly quantity: number;
  readonly unitPrice: number;
  readonly modifiers: readonly { readonly price: number; readonly quantity: number }[];
}

/** Rates in parts per million: 88,750 is 8.875 %. */
export interface Rates {
  readonly taxRate: number;
  readonly feeRate: number;
}

export interface OrderTotals {
  /** The total of each line, in the order of the lines. */
  readonly lines: readonly number[];
  readonly subtotal: number;
  readonly taxes: number;
  readonly fees: number;
  readonly total: number;
}

const million = 1_000_000n;

/**
 * Prices an order: the sum of `quantity × (unit price + Σ modifier price × modifier quantity)`, plus tax and fee on
 * this sum, each rounded half-up once for the whole order. There is no tax on the fee and no fee on the tax.
 *
 * @param largest the largest total that an order may have, at most 2^53 - 1
 * @returns `undefined` when the total would be larger
 */
export function priceOrder(
  lines: readonly PricedLine[],
  { taxRate, feeRate }: Rates,
  largest: number,
): OrderTotals | undefined {
  // The sum of two hundred lines with the largest quantities and prices is larger than a double can represent exactly.
  const lineTotals = lines.map(lineTotal);
  const subtotal = lineTotals.reduce((sum, line) => sum + line, 0n);
  const taxes = share(subtotal, taxRate);
  const fees = share(subtotal, feeRate);
  const total = subtotal + taxes + fees;
  if (total > BigInt(largest)) return undefined;
  return {
    lines: lineTotals.map(Number),
    subtotal: Number(subtotal),
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

/** A rate's share of an amount, rounded half-up. */
function share(amount: bigint, rate: number): bigint {
  return (amount * BigInt(rate) + million / 2n) / million;
}
