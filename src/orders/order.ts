import type { components } from '../../generated/types.ts';
import { fields, fixed, hidden, made } from '../base/fields/fields.ts';
import type { Difference, New, None, SentNew, Shown, Thing } from '../base/fields/fields.ts';
import { integer, list, moment, object, same, text, type Kind, type ValueOf } from '../base/fields/kinds.ts';

export type OrderStatus = 'open' | 'completed' | 'canceled';

/** A chosen modifier, as it was when the order was placed. Money is an integer in minor units of the order's currency. */
export type OrderModifier = ValueOf<typeof modifier>;
const modifier = object({
  id: text,
  name: text,
  /** Of one. */
  price: integer,
  /** How many for each unit of the line's product. */
  quantity: integer,
});

/** A line of an order, as its product was when the order was placed. */
export type OrderItem = ValueOf<typeof item>;
const item = object({
  productId: text,
  name: text,
  quantity: integer,
  /** Of one, without modifiers. */
  unitPrice: integer,
  tags: list(text),
  modifiers: list(modifier),
  /** quantity × (unit price + Σ modifier price × modifier quantity). */
  total: integer,
});

/** Where in a location an order was placed, by the names of that time. */
export type OrderSpot = ValueOf<typeof spot>;
const spot = object({ id: text, name: text, zoneId: text, zoneName: text });

/** Stored as a list, because text of callers must never become the name of a field. */
const metadata: Kind<Readonly<Record<string, string>>, { name: string; value: string }[], Record<string, string>> = {
  toStored: (values) => Object.entries(values).map(([name, value]) => ({ name, value })),
  fromStored: (stored) => Object.fromEntries(stored.map(({ name, value }) => [name, value])),
  show: (values) => ({ ...values }),
  read: (values) => ({ ...values }),
};

/** What a list shows of an order. */
export const summaryFields = fields({
  /** UUID. */
  id: made(text),
  status: made(same<OrderStatus>()),
  /** subtotal + taxes + fees. */
  total: made(integer),
  currency: made(text),
  createdAt: made(moment),
  /** Each change makes it later. */
  updatedAt: made(moment),
  locationId: fixed(text),
  /** The caller's own reference for the order. Not unique. */
  referenceId: fixed(text, { optional: true }),
});
export type OrderSummary = Thing<typeof summaryFields.table>;

export const orderFields = fields({
  ...summaryFields.table,
  spot: made(spot, { optional: true }),
  note: fixed(text, { optional: true }),
  metadata: fixed(metadata, { optional: true }),
  /** Sum of the items' totals. */
  subtotal: made(integer),
  taxes: made(integer),
  fees: made(integer),
  items: made(list(item)),
  completedAt: made(moment, { optional: true }),
  canceledAt: made(moment, { optional: true }),
  /** Date of the fiscal day that counted the order. Written without incrementing the revision. */
  fiscalDay: made(text, { optional: true }),
  /** Hash of the request that created it. */
  fingerprint: hidden(text),
});

/** An order, priced by the service. Only its status and its fiscal day change after it is placed. */
export interface Order extends Thing<typeof orderFields.table> {
  /** Number of changes, from 1. */
  readonly revision: number;
}

/** The fields that a caller sets on a new order, without the items and the spot. */
export type NewOrder = New<typeof orderFields.table>;

/** The order as it was when it was placed. */
export function asPlaced(order: Order): Order {
  const { createdAt: updatedAt } = order;
  return {
    ...order,
    status: 'open',
    updatedAt,
    completedAt: undefined,
    canceledAt: undefined,
    fiscalDay: undefined,
    revision: 1,
  };
}

type Schemas = components['schemas'];
/** @public For the compiler: it reports an error while a field is missing. */
export type UndeclaredInOrder = None<
  | Difference<Schemas['OrderListItem'], Shown<typeof summaryFields.table>>
  | Difference<Schemas['Order'], Shown<typeof orderFields.table>>
  | Difference<Omit<Schemas['OrderCreate'], 'items' | 'spot_id'>, SentNew<typeof orderFields.table>>
>;
