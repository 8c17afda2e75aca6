import type { StampedDocument, Unstamped } from '../db/writes.ts';
import type { WithOutbox } from '../events/outbox.ts';
import type { Order, OrderItem, OrderStatus } from './order.ts';

/** A document of the collection `orders`. */
export interface OrderDocument extends StampedDocument, WithOutbox {
  location_id: string;
  status: OrderStatus;
  currency: string;
  items: ItemDocument[];
  subtotal: number;
  taxes: number;
  fees: number;
  total: number;
  spot?: { id: string; name: string; zone_id: string; zone_name: string };
  note?: string;
  created_at: Date;
  completed_at?: Date;
  canceled_at?: Date;
  fingerprint: string;
  /** Date of the fiscal day that counted the order. Like the outbox it is written without counting the revision up. */
  fiscal_day?: string;
  /** Until a fiscal day has counted the order, or it was canceled. */
  uncounted?: true;
  /** Of one order in 64. */
  sample?: string;
}

interface ItemDocument {
  product_id: string;
  name: string;
  tags: string[];
  quantity: number;
  unit_price: number;
  modifiers: { id: string; name: string; price: number; quantity: number }[];
  total: number;
}

type OtherField = '_id' | 'status' | 'completed_at' | 'canceled_at' | 'fiscal_day' | 'uncounted' | 'sample' | 'outbox';

/** The fields of an order that stay as they are. */
export function toOrderFields(order: Order): Omit<Unstamped<OrderDocument>, OtherField> {
  const { spot } = order;
  return {
    location_id: order.locationId,
    currency: order.currency,
    items: order.items.map(toItem),
    subtotal: order.subtotal,
    taxes: order.taxes,
    fees: order.fees,
    total: order.total,
    ...(spot === undefined
      ? {}
      : { spot: { id: spot.id, name: spot.name, zone_id: spot.zoneId, zone_name: spot.zoneName } }),
    ...(order.note === undefined ? {} : { note: order.note }),
    created_at: order.createdAt,
    fingerprint: order.fingerprint,
  };
}

export function fromOrderDocument(document: OrderDocument): Order {
  const { spot } = document;
  return {
    id: document._id,
    locationId: document.location_id,
    status: document.status,
    currency: document.currency,
    items: document.items.map(fromItem),
    subtotal: document.subtotal,
    taxes: document.taxes,
    fees: document.fees,
    total: document.total,
    spot:
      spot === undefined ? undefined : { id: spot.id, name: spot.name, zoneId: spot.zone_id, zoneName: spot.zone_name },
    note: document.note,
    createdAt: document.created_at,
    completedAt: document.completed_at,
    canceledAt: document.canceled_at,
    fiscalDay: document.fiscal_day,
    fingerprint: document.fingerprint,
    revision: document.revision,
  };
}

function toItem(item: OrderItem): ItemDocument {
  return {
    product_id: item.productId,
    name: item.name,
    tags: [...item.tags],
    quantity: item.quantity,
    unit_price: item.unitPrice,
    modifiers: item.modifiers.map(({ id, name, price, quantity }) => ({ id, name, price, quantity })),
    total: item.total,
  };
}

function fromItem(item: ItemDocument): OrderItem {
  return {
    productId: item.product_id,
    name: item.name,
    tags: item.tags,
    quantity: item.quantity,
    unitPrice: item.unit_price,
    modifiers: item.modifiers.map(({ id, name, price, quantity }) => ({ id, name, price, quantity })),
    total: item.total,
  };
}
