export type OrderStatus = 'open' | 'completed' | 'canceled';

/** A chosen modifier, as it was when the order was placed. Money is an integer in minor units of the order's currency. */
export interface OrderModifier {
  readonly id: string;
  readonly name: string;
  /** Of one. */
  readonly price: number;
  /** How many for each product of the line. */
  readonly quantity: number;
}

/** A line of an order, as its product was when the order was placed. */
export interface OrderItem {
  readonly productId: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly quantity: number;
  /** Of one, without modifiers. */
  readonly unitPrice: number;
  readonly modifiers: readonly OrderModifier[];
  /** quantity × (unit price + Σ modifier price × modifier quantity). */
  readonly total: number;
}

/** Where in a location an order was placed, by the names of that time. */
export interface OrderSpot {
  readonly id: string;
  readonly name: string;
  readonly zoneId: string;
  readonly zoneName: string;
}

/** An order, priced by the service. All but its status and its fiscal day stays as it was when the order was placed. */
export interface Order {
  /** UUID. */
  readonly id: string;
  readonly locationId: string;
  readonly status: OrderStatus;
  readonly currency: string;
  readonly items: readonly OrderItem[];
  /** Sum of the items' totals. */
  readonly subtotal: number;
  readonly taxes: number;
  readonly fees: number;
  /** subtotal + taxes + fees. */
  readonly total: number;
  readonly spot: OrderSpot | undefined;
  readonly note: string | undefined;
  readonly createdAt: Date;
  readonly completedAt: Date | undefined;
  readonly canceledAt: Date | undefined;
  /** Date of the fiscal day that counted the order, once one has. */
  readonly fiscalDay: string | undefined;
  /** Hash of the request that created it. */
  readonly fingerprint: string;
  /** Counts the changes, from 1. */
  readonly revision: number;
}

/** What a list shows of an order. */
export type OrderSummary = Pick<Order, 'id' | 'status' | 'total' | 'currency' | 'createdAt'>;

/** The order as it was when it was placed. */
export function asPlaced(order: Order): Order {
  return { ...order, status: 'open', completedAt: undefined, canceledAt: undefined, fiscalDay: undefined, revision: 1 };
}
