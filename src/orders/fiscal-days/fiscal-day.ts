/** A fiscal day of a location that has ended. Money is an integer in minor units of the currency. */
export interface FiscalDay {
  readonly locationId: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  /** The orders that were created before this instant, and that no earlier fiscal day counted, are part of the day. */
  readonly cutAt: Date;
  readonly orderCount: number;
  readonly total: number;
  readonly currency: string;
  /** What closed it: a request (`call`), or its usual end (`clock`). */
  readonly cause: 'call' | 'clock';
}
