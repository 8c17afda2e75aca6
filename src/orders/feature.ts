import type { Installation } from '../storage/db/installation.ts';
import type { Basis } from '../storage/db/basis.ts';
import { createFiscalDayStore, fiscalDayIndexes } from './fiscal-days/fiscal-day-store.ts';
import { fiscalDayOperations } from './fiscal-days/fiscal-day-operations.ts';
import { createFiscalDays, type FiscalDaysOptions } from './fiscal-days/fiscal-days.ts';
import { createOrderIds } from './order-id.ts';
import { orderOperations } from './order-operations.ts';
import { createOrderStore, orderIndexes } from './order-store.ts';
import { createOrders, type OrdersOptions } from './orders.ts';

export const ordersIndexes = [orderIndexes, fiscalDayIndexes];

type OrderDependencies = Basis &
  Omit<OrdersOptions, 'store'> &
  Omit<FiscalDaysOptions, 'store' | 'orders'> & { readonly installation: Installation };

/** Orders and the fiscal days that count them. */
export function createOrdersFeature({ database, installation, ...rest }: OrderDependencies) {
  const store = createOrderStore(database);
  const orders = createOrders({ ...rest, store });
  const fiscalDays = createFiscalDays({ ...rest, store: createFiscalDayStore(database), orders: store });
  return {
    orders,
    operations: { ...orderOperations(orders, createOrderIds(installation)), ...fiscalDayOperations(fiscalDays) },
    chores: [{ name: 'fiscal days', everyMs: 5_000, run: () => fiscalDays.tick() }],
  };
}
