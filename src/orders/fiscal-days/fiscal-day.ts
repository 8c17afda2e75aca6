/** A fiscal day of a location that has ended. Money is an integer in minor units of the currency. */
export interface FiscalDay {
  readonly locationId: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  /** The orders that were created before this instant, and that no earlier fiscal day counted, are part of the day. */
  readonly cutAt: Date;
  readonly closedAt: Date;
  readonly orderCount: number;
  readonly subtotal: number;
  readonly taxes: number;
  readonly fees: number;
  readonly total: number;
  readonly currency: string;
  /** Counts the changes, from 1. */
  readonly revision: number;
  /** Ids of the last writes, newest last. */
  readonly writes: readonly string[];
}
