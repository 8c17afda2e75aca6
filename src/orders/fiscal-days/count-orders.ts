import type { UncountedOrder } from '../order-store.ts';

/** The orders that a fiscal day counts, and the sum of their totals, in minor units. */
export interface CountedOrders {
  readonly ids: readonly string[];
  readonly total: number;
}

/** Ids of 16 bytes each must fit into one document of at most 16 MiB. */
export const maxOrders = 500_000;

/**
 * Adds orders up. It stops before the list is too long to be stored or the sum too large to be exact; the next fiscal
 * day counts the rest.
 */
export async function countOrders(
  orders: AsyncIterable<UncountedOrder>,
  limit: number = maxOrders,
): Promise<CountedOrders> {
  const ids: string[] = [];
  let sum = 0;
  for await (const { id, total } of orders) {
    if (ids.length === limit || !Number.isSafeInteger(sum + total)) break;
    ids.push(id);
    sum += total;
  }
  return { ids, total: sum };
}
