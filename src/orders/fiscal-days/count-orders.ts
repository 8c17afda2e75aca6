import type { UncountedOrder } from '../order-store.ts';
import type { TaxLine } from '../pricing.ts';

/** The orders that a fiscal day counts, and the sum of their totals, in minor units. */
export interface CountedOrders {
  readonly ids: readonly string[];
  readonly total: number;
  /** The sums of their tax lines, the lowest rate first; undefined if an order has none. */
  readonly taxLines: readonly TaxLine[] | undefined;
}

/** Ids of 16 bytes each must fit into one document of at most 16 MiB. */
export const maxOrders = 500_000;

/** More rates than a location has; products can have any. */
const maxRates = 1_000;

/**
 * Adds orders up. It stops before a list is too long to be stored or the sum too large to be exact; the next fiscal day
 * counts the rest.
 */
export async function countOrders(
  orders: AsyncIterable<UncountedOrder>,
  limit: number = maxOrders,
): Promise<CountedOrders> {
  const ids: string[] = [];
  const rates = new Map<number, TaxLine>();
  let haveLines = true;
  let sum = 0;
  for await (const { id, total, taxLines } of orders) {
    if (ids.length === limit || !Number.isSafeInteger(sum + total)) break;
    const added = (taxLines ?? []).filter(({ ratePpm }) => !rates.has(ratePpm)).length;
    if (rates.size + added > maxRates) break;
    for (const line of taxLines ?? []) addLine(rates, line);
    haveLines &&= taxLines !== undefined;
    ids.push(id);
    sum += total;
  }
  const taxLines = haveLines ? [...rates.values()].sort((one, other) => one.ratePpm - other.ratePpm) : undefined;
  return { ids, total: sum, taxLines };
}

function addLine(rates: Map<number, TaxLine>, { ratePpm, base, amount }: TaxLine): void {
  const sum = rates.get(ratePpm) ?? { base: 0, amount: 0 };
  rates.set(ratePpm, { ratePpm, base: sum.base + base, amount: sum.amount + amount });
}
