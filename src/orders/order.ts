import type { components } from '../../generated/types.ts';
import { defined } from '../base/runtime/objects.ts';
import { fields, fixed, hidden, made } from '../base/fields/fields.ts';
import type { Difference, New, None, SentNew, Shown, Thing } from '../base/fields/fields.ts';
import {
  flag,
  integer,
  list,
  moment,
  object,
  optional,
  same,
  text,
  type Kind,
  type ValueOf,
} from '../base/fields/kinds.ts';
import { taxLine } from './tax-line.ts';

export type OrderStatus = 'open' | 'completed' | 'canceled';

/** A chosen modifier, as it was when the order was placed. Money is an integer in minor units of the order's currency. */
export type OrderModifier = ValueOf<typeof storedModifier>;
const storedModifier = object({
  id: text,
  name: text,
  /** Of one. */
  price: integer,
  /** Name of its group. Absent if it is in none. */
  group: optional(text),
  /** How many for each unit of the line's product. */
  quantity: integer,
});
const modifier = { ...storedModifier, show: (value: OrderModifier) => defined(storedModifier.show(value)) };

/** A line of an order, as its product was when the order was placed. */
export type OrderItem = ValueOf<typeof storedItem>;
const storedItem = object({
  productId: text,
  name: text,
  quantity: integer,
  /** Of one, without modifiers. */
  unitPrice: integer,
  tags: list(text),
  modifiers: list(modifier),
  /** In parts per million. Absent in orders that were placed before lines had one. */
  taxRatePpm: optional(integer),
  /** quantity × (unit price + Σ modifier price × modifier quantity). */
  total: integer,
});
const item = { ...storedItem, show: (value: OrderItem) => defined(storedItem.show(value)) };

/** Whether an order is eaten where it is sold, or taken away. It can decide the rate of the tax. */
export type Service = 'eat_in' | 'take_away';

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
  /** subtotal + taxes + fees, or subtotal + fees if the prices include the taxes. */
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

/** What an order has as soon as it is priced. */
export const pricedFields = fields({
  locationId: fixed(text),
  currency: made(text),
  spot: made(spot, { optional: true }),
  service: fixed(same<Service>(), { initially: 'eat_in' }),
  /** Sum of the items' totals. */
  subtotal: made(integer),
  /** Whether the prices include the taxes. Otherwise they are added. */
  pricesIncludeTax: made(flag, { initially: false }),
  /** For each rate, the lowest first. Absent in orders that were placed before there were any. */
  taxLines: made(list(taxLine), { optional: true }),
  /** Sum of the tax lines. */
  taxes: made(integer),
  fees: made(integer),
  /** subtotal + taxes + fees, or subtotal + fees if the prices include the taxes. */
  total: made(integer),
  items: made(list(item)),
});

export const orderFields = fields({
  ...summaryFields.table,
  ...pricedFields.table,
  note: fixed(text, { optional: true }),
  metadata: fixed(metadata, { optional: true }),
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
