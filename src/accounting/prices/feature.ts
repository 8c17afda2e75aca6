import type { Basis } from '../../storage/db/basis.ts';
import type { ProviderRegistry } from '../../models/provider.ts';
import type { Chore } from '../../base/runtime/maintenance.ts';
import { priceOperations } from './price-operations.ts';
import { createPriceStore } from './price-store.ts';
import { createPrices, refreshEveryMs } from './prices.ts';

export function createCostFeature({ database, clock }: Basis, providers: Pick<ProviderRegistry, 'list' | 'get'>) {
  const store = createPriceStore(database);
  const prices = createPrices({ store, providers, clock });
  const chores: readonly Chore[] = [
    { name: 'prices', everyMs: refreshEveryMs, onlyReads: true, run: () => prices.refresh() },
  ];
  return { prices, chores, operations: priceOperations(prices) };
}
