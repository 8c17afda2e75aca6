import type { components } from '../../generated/types.ts';
import type { Order, OrderItem, OrderSummary } from './order.ts';

type Schemas = components['schemas'];

/** The entity tag of an order: another one after each change, and when a fiscal day has counted the order. */
export function orderTag({ id, revision, fiscalDay }: Order): string {
  return fiscalDay === undefined ? `"${id}.${revision}"` : `"${id}.${revision}.${fiscalDay}"`;
}

/** An order as the contract shows it. What is not set is absent. */
export function representOrder(order: Order): Schemas['Order'] {
  const { spot } = order;
  return {
    ...representSummary(order),
    location_id: order.locationId,
    ...(spot === undefined
      ? {}
      : { spot: { id: spot.id, name: spot.name, zone_id: spot.zoneId, zone_name: spot.zoneName } }),
    ...(order.note === undefined ? {} : { note: order.note }),
    subtotal: order.subtotal,
    taxes: order.taxes,
    fees: order.fees,
    items: order.items.map(representItem),
    ...(order.completedAt === undefined ? {} : { completed_at: order.completedAt.toISOString() }),
    ...(order.canceledAt === undefined ? {} : { canceled_at: order.canceledAt.toISOString() }),
    ...(order.fiscalDay === undefined ? {} : { fiscal_day: order.fiscalDay }),
  };
}

/** An order as lists show it. */
export function representSummary({ id, status, total, currency, createdAt }: OrderSummary): Schemas['OrderListItem'] {
  return { id, status, total, currency, created_at: createdAt.toISOString() };
}

function representItem(item: OrderItem): Schemas['OrderItem'] {
  return {
    product_id: item.productId,
    name: item.name,
    quantity: item.quantity,
    unit_price: item.unitPrice,
    tags: [...item.tags],
    modifiers: item.modifiers.map(({ id, name, price, quantity }) => ({ id, name, price, quantity })),
    total: item.total,
  };
}
